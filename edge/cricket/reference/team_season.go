package reference

import (
	"strconv"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// TeamSeasons holds the teams of seasons. The zero value is ready to use.
type TeamSeasons struct{}

// results are the attributes that are counted from matches.
var results = []string{"played", "won", "lost", "undecided"}

func (r *TeamSeasonRecord) row() row {
	return row{
		table: tables.TeamSeasons, key: "seasonId", id: r.SeasonID, sort: "teamId", sortID: r.TeamID, kind: "team of a season",
		fed: append([]string{"leagueId", "seasonName", "name", "code", "squad"}, results...),
	}
}

func teamSeasonKey(seasonID, teamID string) attr.Item {
	return attr.Item{"seasonId": attr.S(seasonID), "teamId": attr.S(teamID)}
}

// Get returns a team of a season; NotFound if there is none.
func (TeamSeasons) Get(tx *store.Tx, seasonID, teamID string) (TeamSeasonRecord, error) {
	return tables.Get[TeamSeasonRecord](tx, tables.TeamSeasons, teamSeasonKey(seasonID, teamID),
		fault.New(fault.NotFound, "team_season_not_found", "team %q is not in season %q", teamID, seasonID))
}

// OfSeason lists the teams of a season by id.
func (TeamSeasons) OfSeason(tx *store.Tx, seasonID string) ([]TeamSeasonRecord, error) {
	if seasonID == "" {
		return nil, nil // an empty key would be refused
	}
	return tables.Decode[TeamSeasonRecord](tx, tables.TeamSeasons, tx.QueryAll(store.Query{
		Table: tables.TeamSeasons, KeyCondition: "seasonId = :s",
		Params: expr.Params{Values: attr.Item{":s": attr.S(seasonID)}},
	}))
}

// standing holds the results of a season's teams in the matches known here.
type standing map[string]*TeamSeasonRecord

// Standings counts the results of a season's matches by team id. A finished match without a winner is undecided;
// one that was postponed or cancelled is not played.
func Standings(fixtures []matches.Fixture, seasonID string) map[string]*TeamSeasonRecord {
	table := standing{}
	for i := range fixtures {
		f := &fixtures[i]
		if f.SeasonID != seasonID {
			continue
		}
		for _, t := range f.Teams {
			if t.ID == 0 {
				continue
			}
			r := table.recordOf(seasonID, strconv.FormatInt(t.ID, 10))
			r.LeagueID, r.Name, r.Code = strconv.FormatInt(f.LeagueID, 10), t.Name, t.Code
			if !f.IsOver() || f.Phase == cricket.PhaseNoNews || cricket.Status(f.Status).NotPlayed() {
				continue
			}
			r.Played++
			switch f.WinnerID {
			case 0:
				r.Undecided++
			case t.ID:
				r.Won++
			default:
				r.Lost++
			}
		}
	}
	return table
}

func (s standing) recordOf(seasonID, teamID string) *TeamSeasonRecord {
	r := s[teamID]
	if r == nil {
		r = &TeamSeasonRecord{SeasonID: seasonID, TeamID: teamID}
		s[teamID] = r
	}
	return r
}
