package matches

import (
	"maps"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Fixture is a match as the fixtures table keeps it: what is known of it besides the play.
type Fixture struct {
	MatchID       string        `dynamodbav:"matchId" json:"id"`
	LeagueID      int64         `dynamodbav:"leagueId" json:"leagueId"`
	LeagueCode    string        `dynamodbav:"leagueCode,omitempty" json:"leagueCode"`
	LeagueName    string        `dynamodbav:"leagueName" json:"league"`
	SeasonID      string        `dynamodbav:"seasonId,omitempty" json:"seasonId,omitempty"`
	StartTime     time.Time     `dynamodbav:"startTime" json:"startTime"`
	Status        string        `dynamodbav:"status" json:"status"`
	Phase         cricket.Phase `dynamodbav:"phase" json:"phase"`
	Type          string        `dynamodbav:"type" json:"type"`
	Round         string        `dynamodbav:"round,omitempty" json:"round,omitempty"`
	Venue         string        `dynamodbav:"venue,omitempty" json:"venue,omitempty"`
	Toss          string        `dynamodbav:"toss,omitempty" json:"toss,omitempty"`
	Note          string        `dynamodbav:"note,omitempty" json:"note,omitempty"`
	Result        string        `dynamodbav:"result,omitempty" json:"result,omitempty"`
	WinnerID      int64         `dynamodbav:"winnerTeamId,omitempty" json:"winnerTeamId,omitempty"`
	Teams         []FixtureTeam `dynamodbav:"teams" json:"teams"`
	LiveUpdatedAt time.Time     `dynamodbav:"liveUpdatedAt,omitempty" json:"liveUpdatedAt,omitzero"`
	ArchivedAt    time.Time     `dynamodbav:"archivedAt,omitempty" json:"archivedAt,omitzero"`
}

// FixtureTeam is a side of a fixture, with the score line of its latest innings.
type FixtureTeam struct {
	ID    int64  `dynamodbav:"id" json:"id"`
	Name  string `dynamodbav:"name" json:"name"`
	Code  string `dynamodbav:"code" json:"code"`
	Score string `dynamodbav:"score,omitempty" json:"score,omitempty"` // "241/8 (50.0)"
}

// fixtureOf takes from a snapshot what the fixtures table keeps.
func fixtureOf(s *cricket.Snapshot, st *cricket.State, now time.Time) Fixture {
	f := Fixture{
		MatchID: s.MatchID, LeagueID: s.League.ID, LeagueCode: s.League.Code, LeagueName: s.League.Name,
		StartTime: s.StartsAt, Status: string(s.Status), Phase: st.MatchPhase, Type: s.Type, Round: s.Round,
		Venue: s.Venue, Note: s.Note, Result: st.Result,
	}
	if s.SeasonID != 0 {
		f.SeasonID = strconv.FormatInt(s.SeasonID, 10)
	}
	if st.Result != "" {
		f.WinnerID = s.Winner
	}
	if s.Toss.TeamID != 0 {
		f.Toss = s.Team(s.Toss.TeamID).Name + " chose to " + s.Toss.Decision()
	}
	for _, t := range s.Teams {
		ft := FixtureTeam{ID: t.ID, Name: t.Name, Code: t.Code}
		for i := range s.Innings {
			if in := &s.Innings[i]; in.TeamID == t.ID && !s.IsSuperOver(in.No) {
				ft.Score = cricket.ScoreLine(in, s.Ended(in))
			}
		}
		f.Teams = append(f.Teams, ft)
	}
	if st.Status == cricket.ActiveEnded {
		f.ArchivedAt = now
	} else if len(s.Innings) > 0 {
		f.LiveUpdatedAt = now
	}
	return f
}

// item is what is written of a fixture. A snapshot that does not say when the match starts takes nothing back.
func (fx *Fixture) item() (attr.Item, error) {
	item, err := attr.Marshal(fx)
	if err == nil && fx.StartTime.IsZero() {
		delete(item, "startTime")
	}
	return item, err
}

// Fixtures are the matches that are known, played or not. The zero value is ready.
type Fixtures struct{}

// Get returns a fixture; NotFound if there is none.
func (Fixtures) Get(tx *store.Tx, id string) (Fixture, error) {
	return tables.One[Fixture](tx, tables.Fixtures, tables.MatchKey(id), noMatch(id))
}

// Batch returns those of the fixtures that are there, by id.
func (Fixtures) Batch(tx *store.Tx, ids ...string) ([]Fixture, error) {
	items, err := tables.GetAll(tx, tables.Fixtures, tables.MatchKeys(ids))
	return tables.Decoded[Fixture](items), err
}

// Missing returns the keys of those of the fixtures that have no row here.
func (Fixtures) Missing(tx *store.Tx, ids ...string) ([]attr.Item, error) {
	return tables.Missing(tx, tables.Fixtures, tables.MatchKeys(ids))
}

// Between returns the fixtures of a league, by its code, that start in a span of time, both ends included.
func (Fixtures) Between(tx *store.Tx, leagueCode string, from, to time.Time) ([]Fixture, error) {
	return tables.Decode[Fixture](tx.QueryAll(store.Query{
		Table: tables.Fixtures, Index: "leagueCode-startTime-index",
		KeyCondition: "leagueCode = :code AND startTime BETWEEN :from AND :to",
		Params: expr.Params{Values: attr.Item{
			":code": attr.S(leagueCode), ":from": attr.Time(from), ":to": attr.Time(to),
		}},
	}))
}

// Ahead returns the fixtures of all leagues that start in a span of time and have not begun.
func (Fixtures) Ahead(tx *store.Tx, from, until time.Time) ([]Fixture, error) {
	return tables.Decode[Fixture](tx.ScanAll(store.Scan{
		Table: tables.Fixtures,
		Filter: "startTime BETWEEN :now AND :until AND attribute_not_exists(liveUpdatedAt) " +
			"AND attribute_not_exists(archivedAt)",
		Params: expr.Params{Values: attr.Item{":now": attr.Time(from), ":until": attr.Time(until)}},
	}))
}

// Patch sets attributes of a fixture that is there; NotFound if it is not.
func (Fixtures) Patch(tx *store.Tx, id string, fields attr.Item) error {
	_, err := tables.SetAttributes(tx, tables.Fixtures, tables.MatchKey(id), nil, fields)
	if fault.Is(err, fault.Conflict) {
		return noMatch(id)
	}
	return err
}

// Archive notes that a match is over for good: nobody polls it any more. NotFound if it is not known.
func (Fixtures) Archive(tx *store.Tx, id string) error {
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Fixtures, Key: tables.MatchKey(id),
		Update: "SET archivedAt = :now REMOVE liveUpdatedAt", Condition: "attribute_exists(matchId)",
		Params: expr.Params{Values: attr.Item{":now": attr.Time(tx.Now())}},
	})
	if fault.Is(err, fault.Conflict) {
		return noMatch(id)
	}
	return err
}

// Sync takes what the list of fixtures says of a match. Where the match is registered, what its ticks write is left to
// them: the score, the status and the result are theirs. A match that was postponed and has another time is archived no
// more. It reports whether anything was written.
func (Fixtures) Sync(tx *store.Tx, s *cricket.Snapshot) (changed bool, err error) {
	now := tx.Now()
	st := cricket.State{}
	st.MatchPhase, _ = s.Status.Phase()
	if st.MatchPhase == cricket.PhaseCompleted || st.MatchPhase == cricket.PhaseAbandoned {
		st.Status, st.Result = cricket.ActiveEnded, s.Note
	}
	f := fixtureOf(s, &st, now)
	f.LiveUpdatedAt = time.Time{} // nobody watches it yet
	if st.Status == cricket.ActiveEnded {
		f.WinnerID = s.Winner
	}
	next, err := f.item()
	if err != nil {
		return false, err
	}
	old, err := tx.Get(tables.Fixtures, tables.MatchKey(s.MatchID))
	if err != nil {
		return false, err
	}
	if old == nil {
		_, err = tx.Put(store.PutItem{Table: tables.Fixtures, Item: next, Condition: "attribute_not_exists(matchId)"})
		return err == nil, err
	}
	_, registered, err := readState(tx, s.MatchID)
	if err != nil && !registered {
		return false, err
	}
	if !registered && st.Status != cricket.ActiveEnded && !old["archivedAt"].IsZero() {
		if err := reopen(tx, s.MatchID); err != nil {
			return false, err
		}
	}
	if registered {
		maps.DeleteFunc(next, func(name string, _ attr.Value) bool { return !metadata(name) })
	}
	for name, value := range next { // a list is poorer than a snapshot: what it lacks is not taken back
		if value.Str() == "" && value.Kind() == attr.KindS || name == "archivedAt" && !old[name].IsZero() {
			delete(next, name)
		}
	}
	return tables.SetAttributes(tx, tables.Fixtures, tables.MatchKey(s.MatchID), old, next)
}

// reopen takes back that a match is over.
func reopen(tx *store.Tx, id string) error {
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Fixtures, Key: tables.MatchKey(id),
		Update: "REMOVE archivedAt, #r, winnerTeamId", Condition: "attribute_exists(matchId)",
		Params: expr.Params{Names: map[string]string{"#r": "result"}},
	})
	return err
}

// metadata are the attributes of a fixture that the play does not change.
func metadata(name string) bool {
	switch name {
	case "leagueId", "leagueCode", "leagueName", "seasonId", "startTime", "type", "round", "venue":
		return true
	}
	return false
}

// Over reports whether a match has a result, or never will.
func (fx *Fixture) Over() bool {
	return fx.Phase == cricket.PhaseCompleted || fx.Phase == cricket.PhaseAbandoned
}

// IsLive reports whether a match is polled and told.
func IsLive(tx *store.Tx, matchID string) (bool, error) {
	item, err := tx.Get(tables.ActiveMatches, tables.MatchKey(matchID))
	return item["status"].Str() == cricket.ActiveLive, err
}
