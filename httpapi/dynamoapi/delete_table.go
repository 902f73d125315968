package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/wire"

// deleteTable deletes a table. It has gone when the answer comes, though the answer says DELETING as the service does.
type deleteTable struct {
	table managedTable
}

func (r *deleteTable) members(m *wire.Member) { m.Text("TableName", &r.table.Opt) }

func (r *deleteTable) constrain(c *constraints) {
	if r.table.constrain() {
		c.table("tableName", r.table.Opt)
	}
}

func (r *deleteTable) touches(visit func(action, table string)) { visit("DeleteTable", r.table.V) }

func (r *deleteTable) run(c *call) error {
	d, err := c.managed(&r.table)
	if err != nil {
		return err
	}
	if err := c.api.refuseOwned(d.Spec.Name, "it cannot be deleted"); err != nil {
		return err
	}
	if err := c.api.store.DropTable(c, d.Spec.Name); err != nil {
		return err
	}
	c.api.sizes.forget(d.ID)
	c.out.Name("TableDescription")
	c.describe(d, look{table: "DELETING"})
	return nil
}
