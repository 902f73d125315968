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

// Check refuses an invalid spec. Its texts are for programmers: the DynamoDB endpoint checks what its requests declare by itself, in the
// service's words, except for the number of indexes and the names of included attributes.
func (t TableSpec) Check() error {
	if err := checkName("a table", t.Name); err != nil {
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
	if len(name) < minName || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }) {
		return refusal.Invalid("the name of %s, %q, must have %d to %d of the characters a-z, A-Z, 0-9, _, . and -", what, name, minName, maxName)
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
		if err := checkName("an index", ix.Name); err != nil {
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
	included := ix.Projection == ProjectInclude
	if ix.Projection > ProjectInclude || included != (len(ix.Include) > 0) || len(ix.Include) > maxIncluded {
		return refusal.Invalid("index %s must include 1 to %d attributes with ProjectInclude, and none with another projection",
			ix.Name, maxIncluded)
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
	if t.Key.Sort.Name == "" || ix.Key.Sort.Name == "" || ix.Key.Partition.Name != t.Key.Partition.Name {
		return refusal.Invalid("local index %s of table %s must have the table's partition key, and both need a sort key", ix.Name, t.Name)
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
