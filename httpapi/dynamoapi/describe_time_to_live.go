package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/wire"

// describeTimeToLive tells which attribute of a table's items is their expiry.
type describeTimeToLive struct {
	table managedTable
}

func (r *describeTimeToLive) members(m *wire.Member) { m.Text("TableName", &r.table.Opt) }

func (r *describeTimeToLive) constrain(c *constraints) {
	if r.table.constrain() {
		c.table("tableName", r.table.Opt)
	}
}

func (r *describeTimeToLive) touches(visit func(action, table string)) {
	visit("DescribeTimeToLive", r.table.V)
}

func (r *describeTimeToLive) run(c *call) error {
	d, err := c.managed(&r.table)
	if err != nil {
		return err
	}
	c.out.Name("TimeToLiveDescription")
	c.out.Begin()
	if d.Spec.TTL == "" {
		c.out.NamedText("TimeToLiveStatus", "DISABLED")
	} else {
		c.out.NamedText("TimeToLiveStatus", "ENABLED")
		c.out.NamedText("AttributeName", d.Spec.TTL)
	}
	c.out.End()
	return nil
}
