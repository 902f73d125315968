package hacktracker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// shape is what the attributes of a kind of row must be, if they are there: without them, or with others, it does not say what it is to say.
// Numbers may be of any type: other programs write scores as they like, and what is no number counts as 0.
type shape struct {
	pk, sk string   // how the row's keys begin
	name   string   // of the kind, for people
	texts  []string // attributes that are texts
	needs  []string // those of them that must be there
}

// shapes are those of the rows that records are read from.
func shapes() []shape {
	return []shape{
		{pk: prefixUser, sk: skMetadata, name: "user", texts: []string{"userId", "email", "firstName", "lastName", "phoneNumber"}},
		{pk: prefixUser, sk: prefixTeam, name: "membership", texts: []string{"role", "status", "joinedAt"}},
		{pk: prefixTeam, sk: skMetadata, name: "team", texts: []string{"name", "description", "ownerId", "team_type", "status"}},
		{pk: prefixTeam, sk: prefixPlayer, name: "player", texts: []string{"firstName", "lastName", "status", "userId"}},
		{pk: prefixGame, sk: skMetadata, name: "game", texts: []string{"teamId", "status", "scheduledStart", "opponentName", "location", "seasonId"}},
		{pk: prefixGame, sk: prefixAtBat, name: "at-bat", texts: []string{"playerId", "result", "teamId", "hitType"}, needs: []string{"playerId", "result"}},
	}
}

// misshapen returns the name of a row's kind, and why no record can be read from the row; nil if one can be.
func misshapen(row attr.Item) (name string, why error) {
	pk, sk := row["PK"].Str(), row["SK"].Str()
	all := shapes()
	at := slices.IndexFunc(all, func(s shape) bool { return strings.HasPrefix(pk, s.pk) && strings.HasPrefix(sk, s.sk) })
	if at < 0 {
		return "row", nil
	}
	s := &all[at]
	for _, name := range s.texts {
		if v := row[name]; !v.IsZero() && v.Kind() != attr.KindS && v.Kind() != attr.KindNull {
			return s.name, fmt.Errorf("attribute %s is not a text", name)
		}
	}
	for _, name := range s.needs {
		if row[name].Str() == "" {
			return s.name, fmt.Errorf("attribute %s is missing", name)
		}
	}
	if v := row["lineup"]; s.name == "game" && !v.IsZero() && v.Kind() != attr.KindL && v.Kind() != attr.KindNull {
		return s.name, fmt.Errorf("attribute lineup is not a list")
	}
	return s.name, nil
}

// decoder returns a function that decodes a row with of, unless it is misshapen.
func decoder[T any](of func(row attr.Item) T) func(row attr.Item) (T, error) {
	return func(row attr.Item) (v T, err error) {
		if _, why := misshapen(row); why != nil {
			return v, why
		}
		return of(row), nil
	}
}

// readRow reads a row of which a record is read; nil if there is none. A misshapen one is an error.
func (b *Book) readRow(k attr.Item) attr.Item {
	row := b.Get(k)
	if row == nil {
		return nil
	}
	if name, why := misshapen(row); why != nil {
		b.Unreadable(name, row, why)
		return nil
	}
	return row
}

// peek is found for one of many rows: a misshapen one is skipped.
func (b *Book) peek(k attr.Item) attr.Item {
	row := b.Get(k)
	if row == nil {
		return nil
	}
	if _, why := misshapen(row); why != nil {
		b.Skip(row, why)
		return nil
	}
	return row
}

// complete refuses what depends on all rows read since unreadable was store.Tx.Unreadable, if one of them was left out.
func (b *Book) complete(unreadable int, what string) {
	b.Refuse(b.Tx.Unreadable() > unreadable, table.Unreadable(what, fmt.Errorf("a row that is needed cannot be read")))
}
