package dynamoapi

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
)

// keyTypes are the types of attributes that keys may use.
type keyTypes struct {
	names []string // in order of declaration
	types map[string]store.KeyType
}

func newKeyTypes(defs []attributeDefinition) (keyTypes, error) {
	t := keyTypes{types: map[string]store.KeyType{}}
	for _, def := range defs {
		kind := store.KeyType(def.kind.V[0])
		if _, twice := t.types[def.name.V]; twice {
			return t, errValidation("Attribute Name is duplicated: %s", def.name.V)
		}
		t.add(def.name.V, kind)
	}
	return t, nil
}

func (t *keyTypes) add(name string, kind store.KeyType) {
	if _, ok := t.types[name]; !ok {
		t.names = append(t.names, name)
		t.types[name] = kind
	}
}

// key checks the key of a table or a local index and returns it.
func (t *keyTypes) key(elements []keyElement) (store.KeySpec, error) {
	if err := t.checkFirst(elements, false); err != nil {
		return store.KeySpec{}, err
	}
	if len(elements) == 2 && elements[1].kind.V != "RANGE" {
		return store.KeySpec{}, errValidation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	return t.spec(elements[:1], elements[1:]), nil
}

// mostInPart is the maximum number of attributes in each part of a global index's key.
const mostInPart = 4

// globalKey checks the key of a global index and returns it.
func (t *keyTypes) globalKey(elements []keyElement) (store.KeySpec, error) {
	if err := t.checkFirst(elements, true); err != nil {
		return store.KeySpec{}, err
	}
	ofSort := func(e keyElement) bool { return e.kind.V == "RANGE" }
	hashes := slices.IndexFunc(elements, ofSort)
	if hashes < 0 {
		hashes = len(elements)
	}
	partition, sort := elements[:hashes], elements[hashes:]
	switch {
	case slices.ContainsFunc(sort, func(e keyElement) bool { return !ofSort(e) }):
		return store.KeySpec{}, errWrong("All HASH key attributes must precede RANGE key attributes in the KeySchema")
	case len(partition) > mostInPart:
		return store.KeySpec{}, errWrong("The KeySchema exceeds the maximum allowed number of HASH key attributes")
	case len(sort) > mostInPart:
		return store.KeySpec{}, errWrong("The KeySchema exceeds the maximum allowed number of RANGE key attributes")
	}
	return t.spec(partition, sort), nil
}

// checkFirst checks what applies to all keys: the attributes are defined, none is repeated, and the first is a HASH.
func (t *keyTypes) checkFirst(elements []keyElement, global bool) error {
	var names []string
	undefined, twice := false, false
	for _, e := range elements {
		undefined = undefined || t.types[e.name.V] == 0
		twice = twice || slices.Contains(names, e.name.V)
		names = append(names, e.name.V)
	}
	switch {
	case undefined:
		return errWrong("Some index key attributes are not defined in AttributeDefinitions. "+
			"Keys: [%s], AttributeDefinitions: [%s]", strings.Join(names, ", "), strings.Join(t.names, ", "))
	case twice && len(names) == 2 && !(global && elements[0].kind.V == elements[1].kind.V):
		return errValidation("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	case twice:
		return errValidation("The KeySchema contains multiple key attributes with the same name")
	case elements[0].kind.V != "HASH":
		return errValidation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	return nil
}

func (t *keyTypes) spec(partition, sort []keyElement) store.KeySpec {
	attrs := func(elements []keyElement) (out []store.KeyAttr) {
		for _, e := range elements {
			out = append(out, store.KeyAttr{Name: e.name.V, Type: t.types[e.name.V]})
		}
		return out
	}
	return store.NewKeySpec(attrs(partition), attrs(sort))
}

// local checks and returns a local index of a table.
func (t *keyTypes) local(def *indexDefinition, table store.KeySpec) (store.IndexSpec, error) {
	ix := store.IndexSpec{Name: def.name.V, Local: true}
	var err error
	if ix.Key, err = t.key(def.key.V); err != nil {
		return ix, err
	}
	switch {
	case ix.Key.Sort.Name == "":
		return ix, errWrong("Index KeySchema does not have a range key for index: %s", ix.Name)
	case ix.Key.Partition.Name != table.Partition.Name:
		return ix, errWrong("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. "+
			"index hash key: %s, table hash key: %s", ix.Name, ix.Key.Partition.Name, table.Partition.Name)
	}
	return ix, def.projection.V.apply(&ix)
}

// global checks and returns a global index of a table with the billing mode.
func (t *keyTypes) global(def *indexDefinition, billing string) (store.IndexSpec, error) {
	ix := store.IndexSpec{Name: def.name.V}
	var err error
	if ix.Key, err = t.globalKey(def.key.V); err != nil {
		return ix, err
	}
	if err := def.projection.V.apply(&ix); err != nil {
		return ix, err
	}
	switch {
	case billing == store.BillingOnDemand && def.throughput.Set:
		return ix, errWrong("ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", ix.Name)
	case billing != store.BillingOnDemand && !def.throughput.Set:
		return ix, errWrong("ProvisionedThroughput must be specified for index: %s", ix.Name)
	}
	return ix, nil
}

// apply checks a projection and sets it.
func (p projectionSpec) apply(ix *store.IndexSpec) error {
	kinds := map[string]store.Projection{
		"ALL": store.ProjectAll, "KEYS_ONLY": store.ProjectKeysOnly, "INCLUDE": store.ProjectInclude,
	}
	switch {
	case !p.kind.Set:
		return errWrong("Unknown ProjectionType: null")
	case p.include.Set && p.kind.V != "INCLUDE":
		return errWrong("ProjectionType is %s, but NonKeyAttributes is specified", p.kind.V)
	case !p.include.Set && p.kind.V == "INCLUDE":
		return errWrong("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	ix.Projection, ix.Include = kinds[p.kind.V], p.include.V
	return nil
}
