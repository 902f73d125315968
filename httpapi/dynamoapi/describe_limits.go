package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/wire"

// describeLimits returns the quotas of an account. Nothing is limited here: the numbers are those of a new account.
type describeLimits struct{}

func (describeLimits) members(*wire.Member)               {}
func (describeLimits) constrain(*constraints)             {}
func (describeLimits) touches(func(action, table string)) {}

func (describeLimits) run(c *call) error {
	c.out.NamedInt("AccountMaxReadCapacityUnits", 80_000)
	c.out.NamedInt("AccountMaxWriteCapacityUnits", 80_000)
	c.out.NamedInt("TableMaxReadCapacityUnits", 40_000)
	c.out.NamedInt("TableMaxWriteCapacityUnits", 40_000)
	return nil
}
