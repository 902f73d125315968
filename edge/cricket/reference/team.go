package reference

import (
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
)

// Teams holds the feed's teams. The zero value is ready to use.
type Teams struct{ synced[TeamRecord] }

func (r TeamRecord) row() row {
	return row{
		table: tables.Teams, key: "teamId", id: r.TeamID, kind: "team",
		fed: []string{"name", "code", "imagePath", "countryId", "nationalTeam"},
	}
}

// TeamPatch is an admin's change of a team; nil leaves a field as it is.
type TeamPatch struct {
	Name      *string `dynamodbav:"name,omitempty"`
	Code      *string `dynamodbav:"code,omitempty"`
	ImagePath *string `dynamodbav:"imagePath,omitempty"`
}

// NamedByAdmins lists the teams that an admin has changed.
func (Teams) NamedByAdmins(tx *store.Tx) ([]TeamRecord, error) {
	return tables.Decode[TeamRecord](tx, tables.Teams, tx.ScanAll(store.Scan{Table: tables.Teams, Filter: "attribute_exists(adminFields)"}))
}

// Patch sets an admin's values for a team, which the sync then keeps. NotFound if there is none.
func (t Teams) Patch(tx *store.Tx, id string, p TeamPatch) (TeamRecord, error) {
	return t.patch(tx, id, p.Name, p)
}
