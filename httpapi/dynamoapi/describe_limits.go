package dynamoapi

// describeLimits returns the quotas of an account. Nothing is limited here: the numbers are those of a new account.
type describeLimits struct{ nothingAsked }

func (describeLimits) run(c *call) error {
	c.out.NamedInt("AccountMaxReadCapacityUnits", 80_000)
	c.out.NamedInt("AccountMaxWriteCapacityUnits", 80_000)
	c.out.NamedInt("TableMaxReadCapacityUnits", 40_000)
	c.out.NamedInt("TableMaxWriteCapacityUnits", 40_000)
	return nil
}
