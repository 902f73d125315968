package reference

import (
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
)

// Teams are the teams of the feed. The zero value is ready.
type Teams struct{ synced[TeamRecord] }

func (r TeamRecord) row() row {
	return row{table: tables.Teams, key: "teamId", id: r.TeamID, kind: "team"}
}

// TeamPatch is what an admin changes of a team: what is nil stays.
type TeamPatch struct {
	Name      *string `dynamodbav:"name,omitempty"`
	Code      *string `dynamodbav:"code,omitempty"`
	ImagePath *string `dynamodbav:"imagePath,omitempty"`
}

// Named lists the teams that an admin has changed.
func (Teams) Named(tx *store.Tx) ([]TeamRecord, error) {
	return tables.Decode[TeamRecord](tx.ScanAll(store.Scan{Table: tables.Teams, Filter: "attribute_exists(adminFields)"}))
}

// Patch sets what an admin has chosen of a team, and keeps it from being synced over. NotFound if there is none.
func (t Teams) Patch(tx *store.Tx, id string, p TeamPatch) (TeamRecord, error) {
	return t.patch(tx, id, p.Name, p)
}
