package reference

import (
	"slices"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Leagues are the leagues of the feed. The zero value is ready.
type Leagues struct{}

// LeaguePatch is what an admin changes of a league: what is nil stays.
type LeaguePatch struct {
	Name      *string `json:"name"`
	Code      *string `json:"code"`
	ImagePath *string `json:"imagePath"`
	Active    *bool   `json:"active"`
	Marquee   *bool   `json:"marquee"`
}

func leagueKey(id string) attr.Item { return attr.Item{"leagueId": attr.S(id)} }

func noLeague(id string) error {
	return fault.New(fault.NotFound, "league_not_found", "no league %q", id)
}

// Get returns a league; NotFound if there is none.
func (Leagues) Get(tx *store.Tx, id string) (LeagueRecord, error) {
	return tables.One[LeagueRecord](tx, tables.Leagues, leagueKey(id), noLeague(id))
}

// All lists the leagues by id.
func (Leagues) All(tx *store.Tx) ([]LeagueRecord, error) {
	return tables.Decode[LeagueRecord](tx.ScanAll(store.Scan{Table: tables.Leagues}))
}

// Active lists those whose matches are synced and polled.
func (Leagues) Active(tx *store.Tx) ([]LeagueRecord, error) { return leaguesWith(tx, "active") }

func leaguesWith(tx *store.Tx, flag string) ([]LeagueRecord, error) {
	return tables.Decode[LeagueRecord](tx.ScanAll(store.Scan{
		Table: tables.Leagues, Filter: "#flag = :true",
		Params: expr.Params{Names: map[string]string{"#flag": flag}, Values: attr.Item{":true": attr.Bool(true)}},
	}))
}

// Put takes a league of the feed. A new one is active if the record says so. Of one that is there, active, marquee and
// what an admin has set stay as they are; nothing is written if the rest is as it was.
func (Leagues) Put(tx *store.Tx, r LeagueRecord) error {
	if r.LeagueID == "" {
		return fault.New(fault.Invalid, "validation", "a league needs an id")
	}
	r.AdminFields = nil
	item, err := attr.Marshal(r)
	if err != nil {
		return err
	}
	return syncRow(tx, tables.Leagues, leagueKey(r.LeagueID), item, "active", "marquee")
}

// Missing returns the keys of those of the leagues that have no row here.
func (Leagues) Missing(tx *store.Tx, records ...LeagueRecord) ([]attr.Item, error) {
	var keys []attr.Item
	for i := range records {
		if records[i].LeagueID != "" {
			keys = append(keys, leagueKey(records[i].LeagueID))
		}
	}
	return tables.Missing(tx, tables.Leagues, keys)
}

// Patch sets what an admin has chosen of a league, and keeps it from being synced over. NotFound if there is none. A
// league that becomes the marquee takes that from the one before.
func (l Leagues) Patch(tx *store.Tx, id string, p LeaguePatch) (LeagueRecord, error) {
	fields := attr.Item{}
	setText(fields, "name", p.Name)
	setText(fields, "code", p.Code)
	setText(fields, "imagePath", p.ImagePath)
	setBool(fields, "active", p.Active)
	setBool(fields, "marquee", p.Marquee)
	if p.Name != nil && *p.Name == "" {
		return LeagueRecord{}, fault.New(fault.Invalid, "validation", "a league needs a name")
	}
	if err := patchRow(tx, tables.Leagues, leagueKey(id), fields, noLeague(id)); err != nil {
		return LeagueRecord{}, err
	}
	if p.Marquee != nil && *p.Marquee {
		if err := l.onlyMarquee(tx, id); err != nil {
			return LeagueRecord{}, err
		}
	}
	return l.Get(tx, id)
}

// onlyMarquee takes the mark from all leagues but one.
func (Leagues) onlyMarquee(tx *store.Tx, id string) error {
	all, err := leaguesWith(tx, "marquee")
	if err != nil {
		return err
	}
	for _, other := range slices.DeleteFunc(all, func(r LeagueRecord) bool { return r.LeagueID == id }) {
		key := leagueKey(other.LeagueID)
		if _, err := tables.SetAttributes(tx, tables.Leagues, key, nil, attr.Item{"marquee": attr.Bool(false)}); err != nil {
			return err
		}
	}
	return nil
}

// Delete forgets a league; NotFound if there is none. The next sync brings it back if the feed still has it, as a new
// one.
func (Leagues) Delete(tx *store.Tx, id string) error {
	old, err := tx.Delete(store.DeleteItem{Table: tables.Leagues, Key: leagueKey(id)})
	if err == nil && old == nil {
		return noLeague(id)
	}
	return err
}
