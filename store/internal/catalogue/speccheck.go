package catalogue

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/internal/refusal"
)

// DynamoDB's limits for tables (Developer Guide, "Quotas in Amazon DynamoDB").
const (
	minName          = 3 // of tables and indexes, in characters
	maxName          = 255
	maxGlobal        = 20
	maxLocal         = 5
	maxAttrName      = 255 // of key attributes, in bytes
	maxIncluded      = 20  // attributes in one index with ProjectInclude
	maxIncludedInAll = 100
)

const wrongParameter = "One or more parameter values were invalid: "

// Check refuses an invalid spec.
func (t TableSpec) Check() error {
	if err := checkName("tableName", t.Name); err != nil {
		return err
	}
	if err := t.Key.check(false); err != nil {
		return refusal.Invalid("table %s: %s", t.Name, err)
	}
	if len(t.TTL) > maxAttrName {
		return refusal.Invalid("table %s: the name of the TTL attribute may have at most %d bytes", t.Name, maxAttrName)
	}
	if err := t.checkLock(); err != nil {
		return err
	}
	if err := t.checkIndexes(); err != nil {
		return err
	}
	return t.checkTypes()
}

func checkName(what, name string) error {
	switch {
	case len(name) < minName:
		return refusal.Invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: "+
			"Member must have length greater than or equal to %d", name, what, minName)
	case len(name) > maxName:
		return refusal.Invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d", name, what, maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }):
		return refusal.Invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: "+
			"Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+", name, what)
	}
	return nil
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r)
}

func (t TableSpec) checkIndexes() error {
	seen := map[string]bool{}
	global, local, included := 0, 0, 0
	for _, ix := range t.Indexes {
		if err := checkName("indexName", ix.Name); err != nil {
			return err
		}
		if seen[ix.Name] {
			return refusal.Invalid(wrongParameter+"Duplicate index name: %s", ix.Name)
		}
		seen[ix.Name] = true
		if err := ix.Key.check(!ix.Local); err != nil {
			return refusal.Invalid("table %s, index %s: %s", t.Name, ix.Name, err)
		}
		if err := ix.checkProjection(); err != nil {
			return err
		}
		included += len(ix.Include)
		if !ix.Local {
			global++
			continue
		}
		local++
		if err := t.checkLocal(ix); err != nil {
			return err
		}
	}
	switch {
	case global > maxGlobal:
		return refusal.Invalid(wrongParameter+"GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobal)
	case local > maxLocal:
		return refusal.Invalid(wrongParameter+"Number of LocalSecondaryIndexes exceeds per-table limit of %d", maxLocal)
	case included > maxIncludedInAll:
		return refusal.Invalid(wrongParameter+"table %s: its indexes include %d attributes, the limit is %d",
			t.Name, included, maxIncludedInAll)
	}
	return nil
}

func (ix IndexSpec) checkProjection() error {
	switch {
	case ix.Projection > ProjectInclude:
		return refusal.Invalid(wrongParameter + "Unknown ProjectionType")
	case ix.Projection == ProjectInclude && len(ix.Include) == 0:
		return refusal.Invalid(wrongParameter + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	case ix.Projection != ProjectInclude && len(ix.Include) > 0:
		kind := "ALL"
		if ix.Projection == ProjectKeysOnly {
			kind = "KEYS_ONLY"
		}
		return refusal.Invalid(wrongParameter+"ProjectionType is %s, but NonKeyAttributes is specified", kind)
	case len(ix.Include) > maxIncluded:
		return refusal.Invalid("1 validation error detected: Value at 'nonKeyAttributes' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d", maxIncluded)
	}
	seen := map[string]bool{}
	for _, name := range ix.Include {
		if name == "" || len(name) > maxAttrName {
			return refusal.Invalid(wrongParameter+"index %s includes an attribute whose name does not have 1 to %d bytes", ix.Name, maxAttrName)
		}
		if seen[name] {
			return refusal.Invalid(wrongParameter+"Duplicate element in NonKeyAttributes: %s", name)
		}
		seen[name] = true
	}
	return nil
}

// checkLocal refuses a local index that does not fit the table's key.
func (t TableSpec) checkLocal(ix IndexSpec) error {
	switch {
	case t.Key.Sort.Name == "":
		return refusal.Invalid(wrongParameter +
			"Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	case ix.Key.Sort.Name == "":
		return refusal.Invalid(wrongParameter+"Index KeySchema does not have a range key for index: %s", ix.Name)
	case ix.Key.Partition.Name != t.Key.Partition.Name:
		return refusal.Invalid(wrongParameter+"Index KeySchema does not have the same leading hash key as table KeySchema "+
			"for index: %s. index hash key: %s, table hash key: %s", ix.Name, ix.Key.Partition.Name, t.Key.Partition.Name)
	}
	return nil
}

// checkTypes refuses an attribute with different types in different keys: DynamoDB declares each key attribute once.
func (t TableSpec) checkTypes() error {
	types := map[string]KeyType{}
	keys := []KeySpec{t.Key}
	for _, ix := range t.Indexes {
		keys = append(keys, ix.Key)
	}
	for _, k := range keys {
		for _, a := range k.Attrs() {
			if have, ok := types[a.Name]; ok && have != a.Type {
				return refusal.Invalid("table %s: key attribute %s has the type %c in one key and %c in another",
					t.Name, a.Name, have, a.Type)
			}
			types[a.Name] = a.Type
		}
	}
	return nil
}

// check refuses an invalid key. With multi, for a global index, its parts may have several attributes.
func (k KeySpec) check(multi bool) error {
	attrs := k.Attrs()
	if NewKeySpec(k.PartitionAttrs(), k.SortAttrs()) != k {
		return refusal.Invalid("its key has a gap between attributes")
	}
	if k.Multi() && !multi {
		return refusal.Invalid("only the key of a global index may have parts of several attributes")
	}
	if k.Partition.Name == k.Sort.Name && k.Sort.Name != "" && len(attrs) == 2 {
		return refusal.Invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	for i, a := range attrs {
		if slices.ContainsFunc(attrs[:i], func(b KeyAttr) bool { return a.Name == b.Name }) {
			return refusal.Invalid("The KeySchema contains multiple key attributes with the same name")
		}
		if a.Name == "" || len(a.Name) > maxAttrName {
			return refusal.Invalid("a key attribute needs a name of 1 to %d bytes", maxAttrName)
		}
		if a.Type.Kind() == 0 {
			return refusal.Invalid("key attribute %s needs one of the types S, N and B", a.Name)
		}
	}
	return nil
}
