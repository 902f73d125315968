package dynamoapi

// describeTable describes a table.
type describeTable struct{ managedTable }

func (r *describeTable) run(c *call) error {
	d, err := c.managed(&r.managedTable)
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
