package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/sigv4"

// access is what a request needs permission for: actions, as permissions name them, on tables.
type access struct {
	operation string
	actions   []string
	tables    []string // of the actions, by their names
}

func accessOf(operation string, r request) access {
	out := access{operation: operation}
	r.touches(operation, func(action, table string) {
		out.actions, out.tables = append(out.actions, action), append(out.tables, tableName(table))
	})
	return out
}

// allowed refuses what somebody may not do. A request about no table is an action on all.
func (a access) allowed(who *sigv4.Principal) error {
	if len(a.actions) == 0 {
		return who.Allow(a.operation)
	}
	for i, action := range a.actions {
		if err := who.Allow(action, a.tables[i]); err != nil {
			return err
		}
	}
	return nil
}
