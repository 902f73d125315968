package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/wire"

// deleteTable deletes a table. It has gone when the answer comes, though the answer says DELETING as the service does.
type deleteTable struct {
	table managedTable
}

func (r *deleteTable) field(d *wire.Decoder, name string) error {
	if name == "TableName" {
		return d.OptText(&r.table.Opt)
	}
	return d.Skip()
}

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
