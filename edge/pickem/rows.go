package pickem

import (
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
}

// Locked reports whether an event takes no more picks, by the clock or by its state.
func (e *Event) Locked(now time.Time) bool { return e.State != Upcoming || !now.Before(e.LockAt) }

// eventOf reads a row. One of the original has no start: its day will do.
func eventOf(it attr.Item) Event {
	e := Event{ID: strings.TrimPrefix(it["SK"].Str(), prefixEvent), Name: it["name"].Str(), State: State(it["state"].Str())}
	day, _ := time.Parse(rowDay, it["date"].Str())
	e.Date, e.StartsAt = day.Format(Day), day
	if at, err := time.Parse(time.RFC3339, it["startsAt"].Str()); err == nil {
		e.StartsAt = at
	}
	e.LockAt, e.scoring, e.edition = e.StartsAt.Add(-lockBefore), it["scoring"].Bool(), number(it["edition"])
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
func (t *Team) Label() string {
	if t.Name != "" {
		return t.Name
	}
	return strings.Join(t.Members, " & ")
}

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
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Championships []string `json:"championships,omitempty"`
	Points        int      `json:"points"`
	Preshow       bool     `json:"preshow"`
	Teams         []Team   `json:"teams"`
	Result        Result   `json:"result,omitzero"`

	place   string
	was     []string // ids that it had with other teams
	edition int      // how often its result was set
}

func matchOf(it attr.Item) (m Match, err error) {
	m = Match{ID: it["id"].Str(), Name: it["name"].Str(), Points: number(it["points"]), Preshow: it["preshow"].Bool(), place: it["GSI_SK"].Str()}
	m.edition = number(it["edition"])
	for name, to := range map[string]any{"championships": &m.Championships, "teams": &m.Teams, "was": &m.was} {
		if v, ok := it[name]; ok {
			if err := attr.UnmarshalValue(v, to); err != nil {
				return m, err
			}
		}
	}
	if v, ok := it["result"]; ok {
		m.Result = Result{Known: true, Team: NoContest}
		if n, ok := v.Int(); ok {
			m.Result.Team = int(n)
		}
	}
	return m, nil
}

func (m *Match) row(event string) (attr.Item, error) {
	it := matchKey(event, m.ID)
	it["GSI_PK"], it["GSI_SK"], it["type"], it["id"] = attr.S(prefixEvent+event), attr.S(m.place), attr.S("match"), attr.S(m.ID)
	it["name"], it["points"], it["preshow"] = attr.S(m.Name), attr.Int(int64(m.Points)), attr.Bool(m.Preshow)
	for name, from := range map[string]any{"championships": m.Championships, "teams": m.Teams, "was": m.was} {
		if name == "was" && m.was == nil {
			continue
		}
		v, err := attr.MarshalValue(from)
		if err != nil {
			return nil, err
		}
		it[name] = v
	}
	if m.Championships == nil {
		it["championships"] = attr.L()
	}
	if m.Result.Known {
		it["result"] = m.Result.value()
	}
	return it, nil
}

// Prediction is what a user has picked of an event, with what came of it when it was scored.
type Prediction struct {
	Rank    int            `json:"rank,omitempty"`
	User    string         `json:"userId"`
	Name    string         `json:"name"`
	Points  int            `json:"points"`
	Correct int            `json:"mcorrect"`
	Picks   map[string]int `json:"predictions"` // index of a team by the match's id

	event, key string
}

func predictionOf(it attr.Item) Prediction {
	p := Prediction{
		User: userOf(it), Points: number(it["points"]), Correct: number(it["mcorrect"]), Picks: map[string]int{},
		event: strings.TrimPrefix(it["SK"].Str(), prefixEvent), key: it["GSI_SK"].Str(),
	}
	for match, v := range it["predictions"].Map() {
		p.Picks[match] = number(v)
	}
	return p
}

// Standing is a user's place in a year.
type Standing struct {
	Rank    int    `json:"rank,omitempty"`
	User    string `json:"userId"`
	Name    string `json:"name"`
	Points  int    `json:"points"`
	Correct int    `json:"mcorrect"`
	Played  int    `json:"eplayed"`
}

func standingOf(it attr.Item) Standing {
	return Standing{User: userOf(it), Points: number(it["points"]), Correct: number(it["mcorrect"]), Played: number(it["eplayed"])}
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
