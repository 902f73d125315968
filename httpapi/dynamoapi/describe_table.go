package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/wire"

// describeTable describes a table.
type describeTable struct {
	table managedTable
}

func (r *describeTable) members(m *wire.Member) { m.Text("TableName", &r.table.Opt) }

func (r *describeTable) constrain(c *constraints) {
	if r.table.constrain() {
		c.table("tableName", r.table.Opt)
	}
}

func (r *describeTable) touches(visit func(action, table string)) { visit("DescribeTable", r.table.V) }

func (r *describeTable) run(c *call) error {
	d, err := c.managed(&r.table)
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
