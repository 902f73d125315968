package dynamoapi

import (
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// createTable creates a table. The table is usable when the answer arrives, although the answer says CREATING as the service does.
type createTable struct {
	managedTable
	definitions wire.Opt[[]attributeDefinition]
	key         wire.Opt[[]keyElement]
	local       wire.Opt[[]indexDefinition]
	global      wire.Opt[[]indexDefinition]
	tags        wire.Opt[[]tag]
	tableOptions
}

func (r *createTable) members(m *wire.Member) {
	r.managedTable.members(m)
	list(m, "AttributeDefinitions", &r.definitions, wire.Objects("AttributeDefinition", (*attributeDefinition).members))
	list(m, "KeySchema", &r.key, wire.Objects("KeySchemaElement", (*keyElement).members))
	list(m, "LocalSecondaryIndexes", &r.local, wire.Objects("LocalSecondaryIndex", (*indexDefinition).localMembers))
	list(m, "GlobalSecondaryIndexes", &r.global, wire.Objects("GlobalSecondaryIndex", (*indexDefinition).members))
	list(m, "Tags", &r.tags, wire.Objects("Tag", (*tag).members))
	r.tableOptions.members(m)
}

func (r *createTable) constrain(c *constraints) {
	if !r.namedNew(c) {
		return
	}
	c.require("attributeDefinitions", r.definitions.Set)
	constrainDefinitions(c, r.definitions)
	r.constrainBilling(c)
	constrainKey(c, "keySchema", r.key, mostInKey)
	constrainIndexes(c, "localSecondaryIndexes", r.local, mostInKey)
	constrainIndexes(c, "globalSecondaryIndexes", r.global, 0)
	r.constrainRest(c)
}

func (r *createTable) run(c *call) error {
	if r.wrong != nil {
		return r.wrong
	}
	if err := r.checkBilling(); err != nil {
		return err
	}
	spec, err := r.spec(c)
	if err != nil {
		return err
	}
	settings, err := r.settings(c)
	if err == nil {
		err = c.api.refuseReserved(spec.Name)
	}
	if err != nil {
		return err
	}
	if err := c.api.store.CreateTable(c, spec, settings); err != nil {
		return c.refuseHidden(spec.Name, err)
	}
	d, err := c.describeManaged(&r.managedTable)
	if err != nil {
		return err
	}
	c.out.Name("TableDescription")
	c.describe(d, look{table: "CREATING", index: "CREATING", made: true, warming: r.warming()})
	return nil
}

// mode returns the billing mode; provisioned is the default.
func (r *createTable) mode() string {
	if !r.billing.Set {
		return store.BillingProvisioned
	}
	return r.billing.V
}

func (r *createTable) checkBilling() error {
	if r.mode() == store.BillingOnDemand {
		if r.throughput.Set {
			return errWrong("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
		}
		return nil
	}
	if !r.throughput.Set {
		return errWrong("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	return checkBounds(r.throughput)
}

// spec returns the table's declaration.
func (r *createTable) spec(c *call) (store.TableSpec, error) {
	spec := store.TableSpec{Name: tableName(r.table.V), Policy: c.api.cfg.Policy, Why: "made through the DynamoDB API"}
	if len(r.key.V) > len(r.definitions.V) {
		return spec, errValidation("Invalid KeySchema: Some index key attribute have no definition")
	}
	types, err := newKeyTypes(r.definitions.V)
	if err != nil {
		return spec, err
	}
	if spec.Key, err = types.key(r.key.V); err != nil {
		return spec, err
	}
	if !r.local.Set && !r.global.Set && len(r.key.V) != len(r.definitions.V) {
		return spec, errWrong("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	}
	if err := r.indexes(&spec, &types); err != nil {
		return spec, err
	}
	return spec, types.checkUsed(spec)
}

func (r *createTable) indexes(spec *store.TableSpec, types *keyTypes) error {
	names := map[string]bool{}
	add := func(ix store.IndexSpec, err error) error {
		if err != nil {
			return err
		}
		if names[ix.Name] {
			return errWrong("Duplicate index name: %s", ix.Name)
		}
		names[ix.Name] = true
		spec.Indexes = append(spec.Indexes, ix)
		return nil
	}
	switch {
	case r.local.Set && len(r.local.V) == 0:
		return errWrong("List of LocalSecondaryIndexes is empty")
	case r.local.Set && spec.Key.Sort.Name == "":
		return errWrong("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	}
	for i := range r.local.V {
		if err := add(types.local(&r.local.V[i], spec.Key)); err != nil {
			return err
		}
	}
	if len(r.local.V) > 5 {
		return errWrong("Number of LocalSecondaryIndexes exceeds per-table limit of 5")
	}
	if r.global.Set && len(r.global.V) == 0 {
		return errWrong("List of GlobalSecondaryIndexes is empty")
	}
	for i := range r.global.V {
		if err := add(types.global(&r.global.V[i], r.mode())); err != nil {
			return err
		}
	}
	if len(r.global.V) > 20 {
		return errWrong("GlobalSecondaryIndex count exceeds the per-table limit of 20")
	}
	return nil
}

// checkUsed refuses attribute definitions that no key uses.
func (t *keyTypes) checkUsed(spec store.TableSpec) error {
	used := keyTypes{types: map[string]store.KeyType{}}
	used.addSpec(spec)
	if len(used.names) == len(t.names) {
		return nil
	}
	return errWrong("Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: [%s]",
		strings.Join(t.names, ", "), strings.Join(used.names, ", "))
}

// addSpec adds the attributes of a table's keys.
func (t *keyTypes) addSpec(spec store.TableSpec) {
	add := func(key *store.KeySpec) {
		for _, a := range key.Attrs() {
			t.add(a.Name, a.Type)
		}
	}
	add(&spec.Key)
	for i := range spec.Indexes {
		add(&spec.Indexes[i].Key)
	}
}

// settings returns the settings that the store only remembers.
func (r *createTable) settings(c *call) (store.TableSettings, error) {
	s := store.TableSettings{
		Billing: r.mode(), Class: r.class.V, Protected: r.protected.V, Encrypted: r.encryption.V.enabled.V,
		EncryptedBy: r.encryption.V.key.V, Stream: store.StreamView(r.stream.V.view.V),
		Indexes: map[string]store.Throughput{}, Tags: map[string]string{},
	}
	if s.Billing == store.BillingOnDemand {
		s.BillingSince = c.api.cfg.Now()
	}
	if err := r.setThroughput(&s); err != nil {
		return s, err
	}
	if err := r.checkStream(); err != nil {
		return s, err
	}
	if err := checkTags(r.tags.V); err != nil {
		return s, err
	}
	if len(r.tags.V) > maxTags {
		return s, errTooManyTags()
	}
	for _, t := range r.tags.V {
		s.Tags[t.key.V] = t.value.V
	}
	return s, nil
}

// setThroughput sets the throughput of the table and its global indexes.
func (r *createTable) setThroughput(s *store.TableSettings) (err error) {
	want := demand{onDemand: r.onDemand, warm: r.warm, billing: s.Billing, made: true}
	if s.Throughput, err = want.apply(storeThroughput(r.throughput)); err != nil {
		return err
	}
	for _, def := range r.global.V {
		if s.Indexes[def.name.V], err = def.demand(s.Billing, true).apply(storeThroughput(def.throughput)); err != nil {
			return err
		}
	}
	return nil
}

// warming returns which parts were requested with warm throughput: "" is the table, others are indexes.
func (r *createTable) warming() map[string]bool {
	asked := map[string]bool{"": r.warm.Set}
	for _, def := range r.global.V {
		asked[def.name.V] = def.warm.Set
	}
	return asked
}

func errTooManyTags() error {
	return errValidation("Number of Tags exceed the current limit for the provided ResourceArn")
}
