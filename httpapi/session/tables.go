package session

import (
	"github.com/touchline/touchline/store"
)

// The tables. All are private to the node.
const (
	tableSessions = "touchline-sessions"
	tablePeople   = "touchline-people"
	tableCodes    = "touchline-signin-codes"

	byPerson = "by-person"
	ttl      = "ttl"
)

// Tables returns the tables that a node's store needs.
func Tables() []store.TableSpec {
	text := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	return []store.TableSpec{
		{
			Name: tableSessions, Internal: true, Policy: store.PolicyLocal, Why: "a session is of the node that made it", TTL: ttl,
			Key:     store.KeySpec{Partition: text("id")},
			Indexes: []store.IndexSpec{{Name: byPerson, Key: store.KeySpec{Partition: text("person")}}},
		},
		{
			Name: tablePeople, Internal: true, Policy: store.PolicyLocal, Why: "who has signed in on this node",
			Key: store.KeySpec{Partition: text("subject"), Sort: text("issuer")},
		},
		{
			Name: tableCodes, Internal: true, Policy: store.PolicyLocal, Why: "one-time codes of this node", TTL: ttl,
			Key: store.KeySpec{Partition: text("id")},
		},
	}
}
