package dynamoapi

import (
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// keyTypes are the types of the attributes that may be in keys.
type keyTypes struct {
	names []string // in the order in which they were declared
	types map[string]store.KeyType
}

func newKeyTypes(defs []attributeDefinition) (keyTypes, error) {
	t := keyTypes{types: map[string]store.KeyType{}}
	for _, def := range defs {
		kind := store.KeyType(def.kind.V[0])
		if _, twice := t.types[def.name.V]; twice {
			return t, errWrong("Duplicate AttributeName in AttributeDefinitions: %s", def.name.V)
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

// key checks the key of a table or an index and gives it.
func (t *keyTypes) key(elements []keyElement) (store.KeySpec, error) {
	var key store.KeySpec
	var names []string
	undefined := false
	for _, e := range elements {
		names = append(names, e.name.V)
		undefined = undefined || t.types[e.name.V] == 0
	}
	switch {
	case undefined:
		return key, errWrong("Some index key attributes are not defined in AttributeDefinitions. "+
			"Keys: [%s], AttributeDefinitions: [%s]", strings.Join(names, ", "), strings.Join(t.names, ", "))
	case len(names) == 2 && names[0] == names[1]:
		return key, errValidation("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	case elements[0].kind.V != "HASH":
		return key, errValidation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case len(names) == 2 && elements[1].kind.V != "RANGE":
		return key, errValidation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	key.Partition = store.KeyAttr{Name: names[0], Type: t.types[names[0]]}
	if len(names) == 2 {
		key.Sort = store.KeyAttr{Name: names[1], Type: t.types[names[1]]}
	}
	return key, nil
}

// local checks a local index of a table.
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

// global checks a global index of a table with the billing mode.
func (t *keyTypes) global(def *indexDefinition, billing string) (store.IndexSpec, error) {
	ix := store.IndexSpec{Name: def.name.V}
	var err error
	if ix.Key, err = t.key(def.key.V); err != nil {
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
	return ix, checkOnDemand(def.onDemand, billing)
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

// throughputOf gives what was asked for of a table or an index.
func throughputOf(provisioned, onDemand wire.Opt[throughputSpec]) store.Throughput {
	return onDemand.V.limits(store.Throughput{Read: provisioned.V.read.V, Write: provisioned.V.write.V})
}
