package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/wire"

type describeTable struct{ managedTable }

func (r *describeTable) run(c *call) error {
	d, err := c.describeManaged(&r.managedTable)
	if err != nil {
		return err
	}
	counts, err := c.size(d)
	if err != nil {
		return err
	}
	c.out.Name("Table")
	c.describe(d, look{counts: counts})
	return nil
}

// deleteTable deletes a table. The table is gone when the answer arrives, although the answer says DELETING as the service does.
type deleteTable struct{ managedTable }

func (r *deleteTable) run(c *call) error {
	d, err := c.describeManaged(&r.managedTable)
	if err != nil {
		return err
	}
	if err := c.api.refuseOwned(d.Spec.Name, "it cannot be deleted"); err != nil {
		return err
	}
	if err := c.api.store.DropTable(c, d.Spec.Name); err != nil {
		return err
	}
	c.api.sizes.forget()
	c.out.Name("TableDescription")
	c.describe(d, look{table: "DELETING"})
	return nil
}

// maxTableNames is the maximum number of names in an answer of ListTables.
const maxTableNames = 100

// listTables lists the names of the tables.
type listTables struct {
	after wire.Opt[string] // ExclusiveStartTableName; need not exist
	limit wire.Opt[int64]
}

func (r *listTables) members(m *wire.Member) {
	m.Text("ExclusiveStartTableName", &r.after)
	m.Int("Limit", &r.limit)
}

func (r *listTables) constrain(c *constraints) {
	c.requireBetween("limit", r.limit, 1, maxTableNames)
	c.name("exclusiveStartTableName", r.after)
}

// touches reports no table: a caller who may list tables sees all names.
func (r *listTables) touches(string, func(action, table string)) {}

func (r *listTables) run(c *call) error {
	limit := maxTableNames
	if r.limit.Set {
		limit = int(r.limit.V)
	}
	names, more := c.api.store.TableNames(r.after.V, limit)
	c.out.NamedTexts("TableNames", names)
	if more {
		c.out.NamedText("LastEvaluatedTableName", names[limit-1])
	}
	return nil
}
