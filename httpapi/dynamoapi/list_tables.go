package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/wire"

// maxTableNames is how many names one answer of ListTables has.
const maxTableNames = 100

// listTables lists the names of the tables.
type listTables struct {
	after wire.Opt[string] // ExclusiveStartTableName; it need not be there
	limit wire.Opt[int64]
}

func (r *listTables) members(m *wire.Member) {
	m.Text("ExclusiveStartTableName", &r.after)
	m.Int("Limit", &r.limit)
}

func (r *listTables) constrain(c *constraints) {
	c.between("limit", r.limit, 1, maxTableNames)
	c.name("exclusiveStartTableName", r.after)
}

// touches no table but all: who may list them sees every name.
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
