package intent

import (
	"errors"
	"testing"
)

// A table is stopped if the answer says which it is, or can mean no other.
func TestRefusedTable(t *testing.T) {
	batch := func(tables ...string) *Batch {
		u := &Batch{}
		for _, table := range tables {
			u.Entries = append(u.Entries, &Entry{Write: Write{Table: table}})
		}
		return u
	}
	calls := func(tables ...string) *Action {
		a := &Action{Kind: ActSend}
		for _, table := range tables {
			a.Calls = append(a.Calls, Call{Table: table})
		}
		return a
	}
	none, denied := "Requested resource not found", "not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:eu-west-1:1:table/"
	cases := []struct {
		name  string
		batch *Batch
		asks  *Action
		text  string
		want  string
	}{
		{"one item", batch("t"), calls("t"), none, "t"},
		{"one item, its tombstone's table beside it", batch("t"), calls("sync", "t"), none, "t"},
		{"one item, the other table is named", batch("t"), calls("sync", "t"), denied + "sync", ""},
		{"one item, only the other table is asked", batch("t"), calls("sync"), none, ""},
		{"two tables, one is named", batch("teams", "places"), calls("sync", "teams", "places"), denied + "places", "places"},
		{"two tables, one is part of the other's name", batch("matches", "active-matches"), calls("matches", "active-matches"), denied + "active-matches", "active-matches"},
		{"two tables, none is named", batch("table-1", "table-2"), calls("sync", "table-1", "table-2"), none, ""},
		{"two items of one table", batch("t", "t"), calls("sync", "t", "t"), none, "t"},
		{"a read", batch("t"), &Action{Kind: ActRead, Reads: []Ref{{Table: "t"}}}, none, "t"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.batch.refusedTable(c.asks, &Error{Class: NoTable, Err: errors.New(c.text)}); got != c.want {
				t.Errorf("table %q, want %q", got, c.want)
			}
		})
	}
}
