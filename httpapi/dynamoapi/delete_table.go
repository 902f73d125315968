package dynamoapi

// deleteTable deletes a table. It has gone when the answer comes, though the answer says DELETING as the service does.
type deleteTable struct{ managedTable }

func (r *deleteTable) run(c *call) error {
	d, err := c.managed(&r.managedTable)
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
