package dynamoapi

import "github.com/touchline/touchline/httpapi/dynamoapi/sigv4"

// aims are what a request is about: actions, as permissions name them, on tables.
type aims struct {
	operation string
	actions   []string
	tables    []string // of the actions, by their names
}

func aimsOf(operation string, r request) aims {
	out := aims{operation: operation}
	r.touches(func(action, table string) {
		out.actions, out.tables = append(out.actions, action), append(out.tables, tableName(table))
	})
	return out
}

// allowed refuses what somebody may not do. A request about no table is an action on all.
func (a aims) allowed(who *sigv4.Principal) error {
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
