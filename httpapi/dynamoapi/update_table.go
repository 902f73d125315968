package dynamoapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// updateTable changes a table. The change is complete when the answer arrives, except for filling a new index; the answer shows it in
// progress, as the service does.
type updateTable struct {
	managedTable
	definitions wire.Opt[[]attributeDefinition]
	updates     wire.Opt[[]indexUpdate]
	tableOptions
}

// indexUpdate is one of GlobalSecondaryIndexUpdates.
type indexUpdate struct {
	create, update, remove wire.Opt[indexDefinition]
}

func (r *updateTable) members(m *wire.Member) {
	r.managedTable.members(m)
	list(m, "AttributeDefinitions", &r.definitions, wire.Objects("AttributeDefinition", (*attributeDefinition).members))
	list(m, "GlobalSecondaryIndexUpdates", &r.updates, wire.Objects("GlobalSecondaryIndexUpdate", (*indexUpdate).members))
	r.tableOptions.members(m)
}

func (u *indexUpdate) members(m *wire.Member) {
	wire.Object(m, "Create", "CreateGlobalSecondaryIndexAction", &u.create, (*indexDefinition).members)
	wire.Object(m, "Update", "UpdateGlobalSecondaryIndexAction", &u.update, (*indexDefinition).members)
	wire.Object(m, "Delete", "DeleteGlobalSecondaryIndexAction", &u.remove, (*indexDefinition).members)
}

func (r *updateTable) constrain(c *constraints) {
	if !r.checkLength() {
		return
	}
	constrainDefinitions(c, r.definitions)
	c.table("tableName", r.table)
	r.constrainBilling(c)
	for i := range r.updates.V {
		u := &r.updates.V[i]
		at := fmt.Sprintf("globalSecondaryIndexUpdates.%d.member.", i+1)
		if u.update.Set {
			name(c, at+"update.indexName", u.update.V.name)
			constrainThroughput(c, at+"update.provisionedThroughput", u.update.V.throughput)
		}
		if u.create.Set {
			u.create.V.constrain(c, at+"create", 0)
		}
		if u.remove.Set {
			name(c, at+"delete.indexName", u.remove.V.name)
		}
	}
	r.constrainRest(c)
}

// name is the rule for required names.
func name(c *constraints, at string, v wire.Opt[string]) {
	c.require(at, v.Set)
	c.name(at, v)
}

func (r *updateTable) run(c *call) error {
	if r.wrong != nil {
		return r.wrong
	}
	if err := r.check(); err != nil {
		return err
	}
	before, err := c.describeManaged(&r.managedTable)
	if err != nil {
		return err
	}
	if err := r.checkOwned(c, before); err != nil {
		return err
	}
	change := store.TableChange{Table: before.Spec.Name}
	if err := r.plan(before, &change); err != nil {
		return err
	}
	change.Settings = func(s *store.TableSettings) error { return r.set(c, before, s) }
	if err := c.api.store.UpdateTable(c, change); err != nil {
		return err
	}
	after, err := c.describeManaged(&r.managedTable)
	if err != nil {
		return err
	}
	l := r.interimLook(before, after)
	if l.counts, err = c.size(after); err != nil {
		return err
	}
	c.out.Name("TableDescription")
	c.describe(after, l)
	return nil
}

// check refuses what can be refused without the table.
func (r *updateTable) check() error {
	nothing := !r.throughput.Set && !r.billing.Set && !r.stream.Set && len(r.updates.V) == 0 && !r.encryption.Set &&
		!r.class.Set && !r.protected.Set && !r.onDemand.Set && !r.warm.Set
	switch {
	case nothing:
		return errValidation("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, " +
			"SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, " +
			"DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required")
	case r.billing.V == store.BillingProvisioned && !r.throughput.Set:
		return errWrong("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	}
	if err := checkBounds(r.throughput); err != nil {
		return err
	}
	if err := (demand{warm: r.warm}).checkNamed(); err != nil {
		return err
	}
	if err := r.checkUpdates(); err != nil {
		return err
	}
	return r.checkStream()
}

// checkUpdates refuses index updates with no action or several, and several updates of one index.
func (r *updateTable) checkUpdates() error {
	seen := map[string]bool{}
	for _, u := range r.updates.V {
		if !u.create.Set && !u.update.Set && !u.remove.Set {
			return errWrong("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
				"GlobalSecondaryIndexUpdate.Delete must not be null")
		}
		if err := u.update.V.demand("", false).checkNamed(); err != nil {
			return err
		}
		if u.create.Set && u.update.Set || u.remove.Set && (u.create.Set || u.update.Set) {
			return errWrong("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object")
		}
		for _, action := range []wire.Opt[indexDefinition]{u.update, u.create, u.remove} {
			index := action.V.name.V
			if action.Set && seen[index] {
				return errWrong("Only one global secondary index update per index is allowed simultaneously. Index: %s", index)
			}
			seen[index] = action.Set || seen[index]
		}
	}
	return nil
}

// mode is the billing mode after the change.
func (r *updateTable) mode(before store.TableDescription) string {
	switch {
	case r.billing.Set:
		return r.billing.V
	case onDemand(before):
		return store.BillingOnDemand
	}
	return store.BillingProvisioned
}

// plan checks the changes of indexes and throughput against the table, and records which indexes are created and deleted.
func (r *updateTable) plan(before store.TableDescription, change *store.TableChange) error {
	mode := r.mode(before)
	if r.throughput.Set && mode == store.BillingOnDemand {
		return errWrong("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	}
	if err := r.planIndexes(before, mode, change); err != nil {
		return err
	}
	if mode != store.BillingProvisioned || !onDemand(before) {
		return nil
	}
	var without []string
	for _, ix := range before.Spec.Indexes {
		if !ix.Local && !slices.Contains(change.DropIndexes, ix.Name) && r.indexUpdate(ix.Name) == nil {
			without = append(without, ix.Name)
		}
	}
	if len(without) > 0 {
		return errWrong("ProvisionedThroughput must be specified for index: %s", strings.Join(without, ","))
	}
	return nil
}

func (r *updateTable) planIndexes(before store.TableDescription, mode string, change *store.TableChange) error {
	types, err := newKeyTypes(r.definitions.V)
	if err != nil {
		return err
	}
	types.addSpec(before.Spec)
	if err := r.checkOneAtATime(before); err != nil {
		return err
	}
	for i := range r.updates.V {
		u := &r.updates.V[i]
		if u.create.Set {
			if !r.definitions.Set {
				return errWrong("AttributeDefinitions is not specified for index: %s", u.create.V.name.V)
			}
			ix, err := types.global(&u.create.V, mode)
			if err != nil {
				return err
			}
			change.AddIndexes = append(change.AddIndexes, ix)
		}
		if u.remove.Set {
			change.DropIndexes = append(change.DropIndexes, u.remove.V.name.V)
		}
		if u.update.Set {
			if err := u.update.V.checkUpdate(before, mode); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkUpdate checks a throughput change of a global index.
func (v *indexDefinition) checkUpdate(before store.TableDescription, mode string) error {
	switch {
	case checkBounds(v.throughput) != nil:
		return errValidation("This operation cannot be performed with given input values. " +
			"Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate")
	case indexOf(&before.Spec, v.name.V) == nil || indexOf(&before.Spec, v.name.V).Local:
		return errNoTable()
	case mode == store.BillingOnDemand && (v.throughput.Set || !v.warm.Set && v.onDemand.V == throughputSpec{}):
		return errWrong("The only Updates for index: %s when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput", v.name.V)
	case mode == store.BillingProvisioned && !v.throughput.Set && !v.warm.Set && !v.onDemand.Set:
		return errWrong("ProvisionedThroughput must be specified for index: %s", v.name.V)
	}
	return nil
}

// checkOneAtATime refuses to create or delete more than one index, and to create one while another is being filled.
func (r *updateTable) checkOneAtATime(before store.TableDescription) error {
	n, creates := 0, false
	for _, u := range r.updates.V {
		if u.create.Set || u.remove.Set {
			n++
		}
		creates = creates || u.create.Set
	}
	filling := slices.ContainsFunc(before.Indexes, func(ix store.IndexDescription) bool { return ix.Status == store.IndexCreating })
	if n > 1 || creates && filling {
		return refuse(ofModel+"LimitExceededException",
			"Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
	}
	return nil
}

// indexUpdate returns the request's change of a remaining global index; nil: none.
func (r *updateTable) indexUpdate(index string) *indexDefinition {
	for i := range r.updates.V {
		if u := &r.updates.V[i]; u.update.Set && u.update.V.name.V == index {
			return &u.update.V
		}
	}
	return nil
}

// interimLook returns how the service shows the table while it works on the change.
func (r *updateTable) interimLook(before, after store.TableDescription) look {
	l := look{of: map[string]string{}, indexes: map[string]store.Throughput{}, warming: map[string]bool{"": r.warm.Set}}
	if r.throughput.Set || r.billing.Set || r.stream.Set || r.encryption.Set || r.class.Set || len(r.updates.V) > 0 {
		l.table = "UPDATING" // limits, warm throughput and protection change while the table stays ACTIVE
	}
	was := func(before, after store.Throughput) store.Throughput {
		after.Read, after.Write, after.WarmRead, after.WarmWrite = before.Read, before.Write, before.WarmRead, before.WarmWrite
		if after.Decreases > 0 && !after.Decreased.Equal(before.Decreased) {
			after.Decreases-- // not counted yet
		}
		return after
	}
	if onDemand(before) == onDemand(after) {
		old := was(before.Settings.Throughput, after.Settings.Throughput)
		l.throughput = &old
		for name, of := range after.Settings.Indexes {
			if r.indexUpdate(name) != nil {
				l.indexes[name] = was(before.Settings.Indexes[name], of)
			}
		}
	}
	for _, u := range r.updates.V {
		l.warming[u.create.V.name.V+u.update.V.name.V] = u.create.V.warm.Set || u.update.V.warm.Set
		switch {
		case u.create.Set:
			l.of[u.create.V.name.V] = "CREATING"
		case u.update.Set:
			l.of[u.update.V.name.V] = "UPDATING"
		}
	}
	for _, ix := range before.Spec.Indexes {
		if indexOf(&after.Spec, ix.Name) == nil {
			l.gone = append(l.gone, ix)
		}
	}
	return l
}
