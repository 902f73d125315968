package reference

import (
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Teams are the teams of the feed. The zero value is ready.
type Teams struct{}

// TeamPatch is what an admin changes of a team: what is nil stays.
type TeamPatch struct {
	Name      *string `json:"name"`
	Code      *string `json:"code"`
	ImagePath *string `json:"imagePath"`
}

func teamKey(id string) attr.Item { return attr.Item{"teamId": attr.S(id)} }

func noTeam(id string) error { return fault.New(fault.NotFound, "team_not_found", "no team %q", id) }

// Get returns a team; NotFound if there is none.
func (Teams) Get(tx *store.Tx, id string) (TeamRecord, error) {
	return tables.One[TeamRecord](tx, tables.Teams, teamKey(id), noTeam(id))
}

// All lists the teams by id.
func (Teams) All(tx *store.Tx) ([]TeamRecord, error) {
	return tables.Decode[TeamRecord](tx.ScanAll(store.Scan{Table: tables.Teams}))
}

// Named lists the teams that an admin has changed.
func (Teams) Named(tx *store.Tx) ([]TeamRecord, error) {
	return tables.Decode[TeamRecord](tx.ScanAll(store.Scan{Table: tables.Teams, Filter: "attribute_exists(adminFields)"}))
}

// Put takes teams of the feed: new ones, and of those that are there what has changed. What an admin has set stays.
func (Teams) Put(tx *store.Tx, records ...TeamRecord) error {
	seen := map[string]bool{}
	for i := range records {
		r := records[i]
		if r.TeamID == "" || seen[r.TeamID] {
			continue
		}
		seen[r.TeamID] = true
		r.AdminFields = nil
		next, err := attr.Marshal(r)
		if err != nil {
			return err
		}
		if err := syncRow(tx, tables.Teams, teamKey(r.TeamID), next); err != nil {
			return err
		}
	}
	return nil
}

// Missing returns the keys of those of the teams that have no row here.
func (Teams) Missing(tx *store.Tx, records ...TeamRecord) ([]attr.Item, error) {
	var keys []attr.Item
	for i := range records {
		if records[i].TeamID != "" {
			keys = append(keys, teamKey(records[i].TeamID))
		}
	}
	return tables.Missing(tx, tables.Teams, keys)
}

// Patch sets what an admin has chosen of a team, and keeps it from being synced over. NotFound if there is none.
func (t Teams) Patch(tx *store.Tx, id string, p TeamPatch) (TeamRecord, error) {
	fields := attr.Item{}
	setText(fields, "name", p.Name)
	setText(fields, "code", p.Code)
	setText(fields, "imagePath", p.ImagePath)
	if p.Name != nil && *p.Name == "" {
		return TeamRecord{}, fault.New(fault.Invalid, "validation", "a team needs a name")
	}
	if err := patchRow(tx, tables.Teams, teamKey(id), fields, noTeam(id)); err != nil {
		return TeamRecord{}, err
	}
	return t.Get(tx, id)
}
