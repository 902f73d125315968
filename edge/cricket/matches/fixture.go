package matches

import (
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Fixture is a row of the fixtures table: what is known of a match besides play.
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

// fixtureOf returns the fixture of a snapshot.
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
				ft.Score = cricket.ScoreLine(in, s.CauseOfEnd(in))
			}
		}
		f.Teams = append(f.Teams, ft)
	}
	if st.Status == cricket.ActiveEnded {
		f.ArchivedAt = now
	} else if len(s.Innings) > 0 && st.Status != cricket.ActivePostponed {
		f.LiveUpdatedAt = now
	}
	return f
}

// item returns the attributes to write. A snapshot without a start time does not remove a known one.
func (fx *Fixture) item() (attr.Item, error) {
	item, err := attr.Marshal(fx)
	if err == nil && fx.StartTime.IsZero() {
		delete(item, "startTime")
	}
	return item, err
}

// Fixtures holds the known matches, played or not. The zero value is ready to use.
type Fixtures struct{}

// Get returns a fixture; NotFound if there is none.
func (Fixtures) Get(tx *store.Tx, id string) (Fixture, error) {
	return tables.Get[Fixture](tx, tables.Fixtures, tables.MatchKey(id), noMatch(id))
}

// Batch returns the existing fixtures among ids.
func (Fixtures) Batch(tx *store.Tx, ids ...string) ([]Fixture, error) {
	items, err := tables.GetAll(tx, tables.Fixtures, tables.MatchKeys(ids))
	return tables.DecodeAll[Fixture](tx, tables.Fixtures, items), err
}

// Missing returns the keys of the ids without a row in this store.
func (Fixtures) Missing(tx *store.Tx, ids ...string) ([]attr.Item, error) {
	return tables.Missing(tx, tables.Fixtures, tables.MatchKeys(ids))
}

// StartingBetween returns the fixtures of a league, by its code, that start between from and to, inclusive.
func (Fixtures) StartingBetween(tx *store.Tx, leagueCode string, from, to time.Time) ([]Fixture, error) {
	return tables.Decode[Fixture](tx, tables.Fixtures, tx.QueryAll(store.Query{
		Table: tables.Fixtures, Index: "leagueCode-startTime-index",
		KeyCondition: "leagueCode = :code AND startTime BETWEEN :from AND :to",
		Params: expr.Params{Values: attr.Item{
			":code": attr.S(leagueCode), ":from": attr.Time(from), ":to": attr.Time(to),
		}},
	}))
}

// OfLeague lists all fixtures of a league, and the ids of those that cannot be read.
func (Fixtures) OfLeague(tx *store.Tx, leagueCode string) (all []Fixture, unreadable []string, err error) {
	rows := tx.QueryAll(store.Query{
		Table: tables.Fixtures, Index: "leagueCode-startTime-index", KeyCondition: "leagueCode = :code",
		Params: expr.Params{Values: attr.Item{":code": attr.S(leagueCode)}},
	})
	for row, err := range rows {
		if err != nil {
			return nil, nil, err
		}
		one := tables.DecodeAll[Fixture](tx, tables.Fixtures, []attr.Item{row})
		if all = append(all, one...); len(one) == 0 {
			unreadable = append(unreadable, row["matchId"].Str())
		}
	}
	return all, unreadable, nil
}

// Ahead returns the fixtures of all leagues that start between from and until and have not begun.
func (Fixtures) Ahead(tx *store.Tx, from, until time.Time) ([]Fixture, error) {
	return tables.Decode[Fixture](tx, tables.Fixtures, tx.ScanAll(store.Scan{
		Table: tables.Fixtures,
		Filter: "startTime BETWEEN :now AND :until AND attribute_not_exists(liveUpdatedAt) " +
			"AND attribute_not_exists(archivedAt)",
		Params: expr.Params{Values: attr.Item{":now": attr.Time(from), ":until": attr.Time(until)}},
	}))
}

// Patch sets attributes of an existing fixture; NotFound if there is none.
func (Fixtures) Patch(tx *store.Tx, id string, fields attr.Item) error {
	_, err := tables.SetAttributes(tx, tables.Fixtures, tables.MatchKey(id), nil, fields)
	if fault.Is(err, fault.Conflict) {
		return noMatch(id)
	}
	return err
}

// Archive records that a match is over for good and no longer polled; NotFound if there is none.
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

// Sync updates a fixture from the feed's list of fixtures. If the match is registered, score, status and result are left to
// its ticks. A match that waits for another time (postponed, cancelled, ended without a decision) and gets one is no longer archived, and
// its followers are kept for that time. It reports whether anything was written.
func (Fixtures) Sync(tx *store.Tx, s *cricket.Snapshot) (changed bool, err error) {
	now := tx.Now()
	st := cricket.State{}
	st.MatchPhase, _ = s.Status.Phase()
	if st.MatchPhase == cricket.PhaseCompleted || st.MatchPhase == cricket.PhaseAbandoned {
		st.Status, st.Result = cricket.ActiveEnded, s.Note
	}
	f := fixtureOf(s, &st, now)
	f.LiveUpdatedAt = time.Time{} // it is not polled yet
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
	if err := leaveToTicks(tx, s, old, next); err != nil {
		return false, err
	}
	if err := keepFollowers(tx, old, &f); err != nil {
		return false, err
	}
	return tables.SetAttributes(tx, tables.Fixtures, tables.MatchKey(s.MatchID), old, next)
}

// leaveToTicks removes from next, the attributes of a fixture by the list, what a known match has from its ticks, and what the list only
// lacks. A match that is on again is no longer archived.
func leaveToTicks(tx *store.Tx, s *cricket.Snapshot, old, next attr.Item) error {
	st, registered, err := readState(tx, s.MatchID)
	if err != nil && !registered {
		return err
	}
	if registered && waitsFor(&st, old, s) {
		registered = false
		if len(st.PreviousScore) > 0 {
			delete(next, "teams") // the list has no scores
		}
	}
	if over := !next["archivedAt"].IsZero(); !registered && !over && !old["archivedAt"].IsZero() {
		if err := reopen(tx, s.MatchID); err != nil {
			return err
		}
	}
	for name, value := range next { // a list has less than a snapshot: what it lacks is not removed
		switch {
		case registered && !metadata(name),
			value.Str() == "" && value.Kind() == attr.KindS,
			name == "archivedAt" && !old[name].IsZero():
			delete(next, name)
		}
	}
	return nil
}

// waitsFor reports whether a match waits for another time, and the feed's list says how it goes on: postponed or cancelled still, or to be
// played, after an end without a decision only if it has a later start.
func waitsFor(st *cricket.State, old attr.Item, s *cricket.Snapshot) bool {
	phase, _ := s.Status.Phase()
	switch {
	case st.Status == cricket.ActivePostponed:
		return phase == cricket.PhasePrematch || s.Status.NotPlayed()
	case st.IsUndecided():
		start, err := time.Parse(time.RFC3339, old["startTime"].Str())
		return err == nil && phase == cricket.PhasePrematch && s.StartsAt.After(start)
	default:
		return false
	}
}

// reopen clears the marks of a finished match.
func reopen(tx *store.Tx, id string) error {
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Fixtures, Key: tables.MatchKey(id),
		Update: "REMOVE archivedAt, #r, winnerTeamId", Condition: "attribute_exists(matchId)",
		Params: expr.Params{Names: map[string]string{"#r": "result"}},
	})
	return err
}

// metadata reports whether an attribute of a fixture is independent of play.
func metadata(name string) bool {
	switch name {
	case "leagueId", "leagueCode", "leagueName", "seasonId", "startTime", "type", "round", "venue":
		return true
	}
	return false
}

// IsOver reports whether a match has a result or never will.
func (fx *Fixture) IsOver() bool {
	return fx.Phase == cricket.PhaseCompleted || fx.Phase == cricket.PhaseAbandoned || fx.Phase == cricket.PhaseNoNews
}

// IsLive reports whether a match is live: polled, and announced to phones.
func IsLive(tx *store.Tx, matchID string) (bool, error) {
	item, err := tx.Get(tables.ActiveMatches, tables.MatchKey(matchID))
	return item["status"].Str() == cricket.ActiveLive, err
}
