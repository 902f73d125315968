package dynamoapi

// describeTimeToLive tells which attribute of a table's items is their expiry.
type describeTimeToLive struct{ managedTable }

func (r *describeTimeToLive) run(c *call) error {
	d, err := c.managed(&r.managedTable)
	if err != nil {
		return err
	}
	c.out.NamedObject("TimeToLiveDescription")
	if d.Spec.TTL == "" {
		c.out.NamedText("TimeToLiveStatus", "DISABLED")
	} else {
		c.out.NamedText("TimeToLiveStatus", "ENABLED")
		c.out.NamedText("AttributeName", d.Spec.TTL)
	}
	c.out.End()
	return nil
}
