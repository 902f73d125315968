package pickem

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// State is how far an event is.
type State string

// The states.
const (
	Upcoming  State = "upcoming"
	Broadcast State = "broadcast" // locked
	Scored    State = "scored"
)

// lockBefore is how long before its start an event takes no more picks.
const lockBefore = time.Hour

// Event is an event with its state.
type Event struct {
	ID       string    `json:"id"`
	Date     string    `json:"date"`
	Name     string    `json:"name"`
	State    State     `json:"state"`
	StartsAt time.Time `json:"startsAt"`
	LockAt   time.Time `json:"lockAt"`

	scoring bool // its rows are being written
	edition int  // how often results of its matches were set
	was     attr.Item
}

// Locked reports whether an event takes no more picks, by the clock or by its state.
func (e *Event) Locked(now time.Time) bool { return e.State != Upcoming || !now.Before(e.LockAt) }

// locked reports whether there is a row of an event that says so.
func locked(it attr.Item) bool { return it != nil && State(it["state"].Str()) != Upcoming }

// counts reports whether an event is in the standings of its year.
func (e *Event) counts() bool { return e.State == Scored || e.scoring }

// Words are a state as people call it.
func (s State) Words() string {
	return cmp.Or(map[State]string{Upcoming: "open", Broadcast: "under way"}[s], string(s))
}

// eventOf reads a row. One that is no event's, or that the index does not have, has no id. One of the original has no start: its day will do.
func eventOf(it attr.Item) Event {
	e := Event{Name: it["name"].Str(), State: State(it["state"].Str()), scoring: it["scoring"].Bool(), edition: number(it["edition"]), was: it}
	id, ok := strings.CutPrefix(it["SK"].Str(), prefixEvent)
	if ok && it["type"].Str() == "event" && it["GSI_PK"].Str() == prefixEvent+id && it["GSI_SK"].Str() == gsiEvent {
		e.ID = id
	}
	day, _ := time.Parse(rowDay, it["date"].Str())
	e.Date, e.StartsAt = day.Format(Day), day
	if at, err := time.Parse(time.RFC3339, it["startsAt"].Str()); err == nil {
		e.StartsAt = at
	}
	e.LockAt = e.StartsAt.Add(-lockBefore)
	return e
}

func (e *Event) row() attr.Item {
	it := eventKey(e.ID)
	it["GSI_PK"], it["GSI_SK"], it["type"] = attr.S(prefixEvent+e.ID), attr.S(gsiEvent), attr.S("event")
	it["date"], it["name"] = attr.S(strings.ReplaceAll(e.Date, "-", "/")), attr.S(e.Name)
	it["state"], it["startsAt"] = attr.S(string(e.State)), attr.S(e.StartsAt.UTC().Format(time.RFC3339))
	return it
}

// Team is a side of a match.
type Team struct {
	Members  []string `dynamodbav:"members" json:"members"`
	Name     string   `dynamodbav:"name,omitempty" json:"name,omitempty"`
	Champion bool     `dynamodbav:"champion,omitempty" json:"champion,omitempty"`
}

// Label is how a team is shown.
func (t *Team) Label() string { return cmp.Or(t.Name, strings.Join(t.Members, " & ")) }

// Result is who has won a match. The zero value: nobody knows yet.
type Result struct {
	Known bool
	Team  int // index of the winners; NoContest: nobody has won
}

// NoContest is the result of a match that nobody has won: no pick of it is right, or wrong.
const NoContest = -1

// IsZero has an unknown result left out of JSON.
func (r Result) IsZero() bool { return !r.Known }

// MarshalJSON implements json.Marshaler: an index, or null for no contest.
func (r Result) MarshalJSON() ([]byte, error) {
	if r.Team == NoContest {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(r.Team), 10), nil
}

func (r Result) value() attr.Value {
	if r.Team == NoContest {
		return attr.Null()
	}
	return attr.Int(int64(r.Team))
}

// Match is a match of a card.
type Match struct {
	ID string `dynamodbav:"id" json:"id"`
	Details
	Result Result `dynamodbav:"-" json:"result,omitzero"`

	was     attr.Item
	Place   string   `dynamodbav:"GSI_SK" json:"-"`
	Was     []string `dynamodbav:"was,omitempty" json:"-"`     // ids that it had with other teams
	Edition int      `dynamodbav:"edition,omitempty" json:"-"` // how often its result was set
}

// Details are what an admin says of a match.
type Details struct {
	Name          string   `dynamodbav:"name" json:"name"`
	Championships []string `dynamodbav:"championships" json:"championships,omitempty"`
	Points        int      `dynamodbav:"points" json:"points"`
	Preshow       bool     `dynamodbav:"preshow" json:"preshow"`
	Teams         []Team   `dynamodbav:"teams" json:"teams"`
}

// Team is the team of an index; nil: there is none, as of NoContest.
func (m *Match) Team(index int) *Team {
	if index < 0 || index >= len(m.Teams) {
		return nil
	}
	return &m.Teams[index]
}

// Winner is who has won; nil: nobody, or it is not known.
func (m *Match) Winner() *Team {
	if !m.Result.Known {
		return nil
	}
	return m.Team(m.Result.Team)
}

// NewChampion reports whether somebody has won a championship who did not hold it.
func (m *Match) NewChampion() bool {
	winner := m.Winner()
	return winner != nil && !winner.Champion && len(m.Championships) > 0
}

// matchOf reads a row; false: it is none that this version can have written.
func matchOf(it attr.Item) (m Match, ok bool) {
	if err := attr.Unmarshal(it, &m); err != nil || len(m.Teams) < 2 || it["SK"].Str() != prefixMatch+m.ID {
		return m, false
	}
	m.was = it
	if v, known := it["result"]; known {
		m.Result = Result{Known: true, Team: NoContest}
		if n, ok := v.Int(); ok {
			m.Result.Team = int(n)
		}
	}
	return m, true
}

func (m *Match) row(event string) (attr.Item, error) {
	it, err := attr.Marshal(m)
	maps.Copy(it, matchKey(event, m.ID))
	it["GSI_PK"], it["type"] = attr.S(prefixEvent+event), attr.S("match")
	if m.Championships == nil {
		it["championships"] = attr.L()
	}
	return it, err
}

// Placed is who has how many points, and the rank that comes of it.
type Placed struct {
	Rank    int    `dynamodbav:"-" json:"rank,omitempty"`
	User    string `dynamodbav:"-" json:"userId"`
	Name    string `dynamodbav:"-" json:"name"`
	Points  int    `dynamodbav:"points" json:"points"`
	Correct int    `dynamodbav:"mcorrect" json:"mcorrect"`
}

// Prediction is what a user has picked of an event, with what came of it when it was scored.
type Prediction struct {
	Placed
	Picks map[string]int `dynamodbav:"predictions" json:"predictions"` // index of a team by the match's id

	Key string `dynamodbav:"GSI_SK" json:"-"`
}

// has reports whether a user has picked of a match; nil has picked nothing.
func (p *Prediction) has(match string) bool {
	if p == nil {
		return false
	}
	_, ok := p.Picks[match]
	return ok
}

// predictionOf reads a row of an event; false: it is none that this version can have written.
func predictionOf(it attr.Item, event string) (p Prediction, ok bool) {
	p.User, p.Picks = userOf(it), map[string]int{}
	return p, attr.Unmarshal(it, &p) == nil && p.User != "" && it["SK"].Str() == prefixEvent+event
}

// Standing is a user's place in a year.
type Standing struct {
	Placed
	Played int `dynamodbav:"eplayed" json:"eplayed"`
}

// standingOf reads a row; false: it is none that this version can have written.
func standingOf(it attr.Item) (st Standing, ok bool) {
	st.User = userOf(it)
	return st, attr.Unmarshal(it, &st) == nil && st.User != ""
}

func (st *Standing) row(year string) attr.Item {
	it := standingsKey(st.User, year)
	it["GSI_PK"], it["GSI_SK"] = attr.S(prefixStandings+year), attr.S(standingScore(st.Points, st.User))
	it["type"], it["belongsto"] = attr.S("standings"), attr.S(prefixUser+st.User)
	it["points"], it["mcorrect"], it["eplayed"] = attr.Int(int64(st.Points)), attr.Int(int64(st.Correct)), attr.Int(int64(st.Played))
	return it
}

func number(v attr.Value) int {
	n, _ := v.Int()
	return int(n)
}
