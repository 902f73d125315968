package reference

import (
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Leagues holds the feed's leagues. The zero value is ready to use. Active and marquee are set only in a new row.
type Leagues struct{ synced[LeagueRecord] }

func (r LeagueRecord) row() row {
	return row{
		table: tables.Leagues, key: "leagueId", id: r.LeagueID, kind: "league",
		fed: []string{"name", "code", "type", "imagePath", "countryId", "seasonId"}, first: []string{"active", "marquee"},
	}
}

// LeaguePatch is an admin's change of a league; nil leaves a field as it is.
type LeaguePatch struct {
	Name      *string `dynamodbav:"name,omitempty"`
	Code      *string `dynamodbav:"code,omitempty"`
	ImagePath *string `dynamodbav:"imagePath,omitempty"`
	Active    *bool   `dynamodbav:"active,omitempty"`
	Marquee   *bool   `dynamodbav:"marquee,omitempty"`
}

// Active lists the leagues whose matches are synced and polled.
func (Leagues) Active(tx *store.Tx) ([]LeagueRecord, error) { return leaguesWith(tx, "active") }

func leaguesWith(tx *store.Tx, flag string) ([]LeagueRecord, error) {
	return tables.Decode[LeagueRecord](tx, tables.Leagues, tx.ScanAll(store.Scan{
		Table: tables.Leagues, Filter: "#flag = :true",
		Params: expr.Params{Names: map[string]string{"#flag": flag}, Values: attr.Item{":true": attr.Bool(true)}},
	}))
}

// Patch sets an admin's values for a league, which the sync then keeps. NotFound if there is none. A league that
// becomes the marquee replaces the previous one.
func (l Leagues) Patch(tx *store.Tx, id string, p LeaguePatch) (LeagueRecord, error) {
	r, err := l.patch(tx, id, p.Name, p)
	if err != nil || p.Marquee == nil || !*p.Marquee {
		return r, err
	}
	return r, onlyMarquee(tx, id)
}

// onlyMarquee clears the flag on all other leagues.
func onlyMarquee(tx *store.Tx, id string) error {
	all, err := leaguesWith(tx, "marquee")
	for _, other := range all {
		if other.LeagueID == id {
			continue
		}
		at := other.row()
		if _, err := tables.SetAttributes(tx, at.table, at.item(), nil, attr.Item{"marquee": attr.Bool(false)}); err != nil {
			return err
		}
	}
	return err
}

// Delete deletes a league; NotFound if there is none. If the feed still has it, the next sync creates it again as a new one.
func (Leagues) Delete(tx *store.Tx, id string) error {
	at := rowOf[LeagueRecord](id)
	old, err := tx.Delete(store.DeleteItem{Table: at.table, Key: at.item()})
	if err == nil && old == nil {
		return at.missing()
	}
	return err
}
