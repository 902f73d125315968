package pickem

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// State is the state of an event.
type State string

// The states.
const (
	Upcoming  State = "upcoming"
	Broadcast State = "broadcast" // locked
	Scored    State = "scored"
)

// lockBefore is how long before its start an event locks.
const lockBefore = time.Hour

// Event is an event with its state.
type Event struct {
	ID       string    `json:"id"`
	Date     string    `json:"date"`
	Name     string    `json:"name"`
	State    State     `json:"state"`
	StartsAt time.Time `json:"startsAt"`
	LockAt   time.Time `json:"lockAt"`

	scoring bool      // a scoring has begun or is due, and is not finished
	edition int       // how often results of its matches were set
	ours    bool      // this program made it: it has a start
	was     attr.Item // the row as it was read
}

// Locked reports whether an event is locked, by the clock or by its state.
func (e *Event) Locked(now time.Time) bool { return e.State != Upcoming || !now.Before(e.LockAt) }

// isLocked reports whether an event's row exists and says that the event is locked.
func isLocked(it attr.Item) bool {
	state := State(it["state"].Str())
	return state == Broadcast || state == Scored
}

// counts reports whether an event counts in the standings of its year.
func (e *Event) counts() bool { return e.State == Scored || e.scoring }

// Words returns the name of a state for people.
func (s State) Words() string {
	return cmp.Or(map[State]string{Upcoming: "open", Broadcast: "under way"}[s], string(s))
}

// eventOf decodes a row. Rows of the original have no start: midnight UTC is used.
func eventOf(it attr.Item) (e Event, err error) {
	e.ID, e.was = strings.TrimPrefix(it["SK"].Str(), prefixEvent), it
	for name, kind := range map[string]attr.Kind{"name": attr.KindS, "scoring": attr.KindBool, "edition": attr.KindN} {
		if v := it[name]; !v.IsZero() && v.Kind() != kind {
			return e, fmt.Errorf("attribute %s has a wrong type", name)
		}
	}
	e.Name, e.State, e.scoring, e.edition = it["name"].Str(), State(it["state"].Str()), it["scoring"].Bool(), number(it["edition"])
	if !slices.Contains([]State{Upcoming, Broadcast, Scored}, e.State) {
		return e, fmt.Errorf("attribute state is none of %s, %s and %s", Upcoming, Broadcast, Scored)
	}
	day, err := time.Parse(rowDay, it["date"].Str())
	if err != nil {
		return e, fmt.Errorf("attribute date is not a day such as 2024/03/03")
	}
	e.Date, e.StartsAt = day.Format(Day), day
	if start := it["startsAt"]; !start.IsZero() {
		if e.StartsAt, err = time.Parse(time.RFC3339, start.Str()); err != nil {
			return e, fmt.Errorf("attribute startsAt is not a time such as 2024-03-03T19:00:00Z")
		}
		e.ours = true
	}
	e.LockAt = e.StartsAt.Add(-lockBefore)
	return e, checkIndexed(it, "event", prefixEvent+e.ID)
}

// checkIndexed checks that a row is of a type, and in a partition of the index.
func checkIndexed(it attr.Item, kind, partition string) error {
	switch {
	case it["type"].Str() != kind:
		return fmt.Errorf("attribute type is not %s", kind)
	case it["GSI_PK"].Str() != partition, it["GSI_SK"].Str() == "":
		return fmt.Errorf("it is not in the index under %s", partition)
	}
	return nil
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

// Label returns the text shown for a team.
func (t *Team) Label() string { return cmp.Or(t.Name, strings.Join(t.Members, " & ")) }

// Result is the winner of a match. The zero value is a result that is not known yet.
type Result struct {
	Known bool
	Team  int // index of the winning team, or NoContest
}

// NoContest is the result of a match without a winner. Picks for it are neither right nor wrong.
const NoContest = -1

// IsZero makes JSON omit an unknown result.
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

	was     attr.Item // the row as it was read
	Place   string    `dynamodbav:"GSI_SK" json:"-"`
	Was     []string  `dynamodbav:"was,omitempty" json:"-"`     // IDs that it had with other teams
	Edition int       `dynamodbav:"edition,omitempty" json:"-"` // how often its result was set
}

// Details is what an admin enters about a match.
type Details struct {
	Name          string   `dynamodbav:"name" json:"name"`
	Championships []string `dynamodbav:"championships" json:"championships,omitempty"`
	Points        int      `dynamodbav:"points" json:"points"`
	Preshow       bool     `dynamodbav:"preshow" json:"preshow"`
	Teams         []Team   `dynamodbav:"teams" json:"teams"`
}

// Team returns the team with an index, or nil if there is none, as for NoContest.
func (m *Match) Team(index int) *Team {
	if index < 0 || index >= len(m.Teams) {
		return nil
	}
	return &m.Teams[index]
}

// Winner returns the winning team, or nil if there is none or the result is not known.
func (m *Match) Winner() *Team {
	if !m.Result.Known {
		return nil
	}
	return m.Team(m.Result.Team)
}

// NewChampion reports whether the match was won by a team that did not hold its championship.
func (m *Match) NewChampion() bool {
	winner := m.Winner()
	return winner != nil && !winner.Champion && len(m.Championships) > 0
}

// matchOf decodes a row of an event.
func matchOf(it attr.Item, event string) (m Match, err error) {
	if err := table.Unmarshal(it, &m); err != nil {
		return m, err
	}
	m.was = it
	switch {
	case len(m.Teams) < 2:
		return m, fmt.Errorf("attribute teams has fewer than two teams")
	case it["PK"].Str() != prefixEvent+event || it["SK"].Str() != prefixMatch+m.ID:
		return m, fmt.Errorf("attribute id is not the one in its key")
	}
	if v, known := it["result"]; known {
		n, isNumber := v.Int()
		if m.Result = (Result{Known: true, Team: int(n)}); v.Kind() == attr.KindNull {
			m.Result.Team = NoContest
		} else if !isNumber || m.Winner() == nil {
			return m, fmt.Errorf("attribute result is not the number of a team")
		}
	}
	return m, checkIndexed(it, "match", prefixEvent+event)
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

// Placed is a user with points, and their rank.
type Placed struct {
	Rank    int    `dynamodbav:"-" json:"rank,omitempty"`
	User    string `dynamodbav:"-" json:"userId"`
	Name    string `dynamodbav:"-" json:"name"`
	Points  int    `dynamodbav:"points" json:"points"`
	Correct int    `dynamodbav:"mcorrect" json:"mcorrect"`
}

// Prediction is a user's picks for an event and, once it is scored, the points they earned.
type Prediction struct {
	Placed
	Picks map[string]int `dynamodbav:"predictions" json:"predictions"` // index of a team, by match ID

	Key string `dynamodbav:"GSI_SK" json:"-"`

	was attr.Item // the row as it was read
}

// has reports whether there is a pick for a match. A nil Prediction has none.
func (p *Prediction) has(match string) bool {
	if p == nil {
		return false
	}
	_, ok := p.Picks[match]
	return ok
}

// Pick returns the index of the picked team of a match, or -1 if there is no pick. A nil Prediction has none.
func (p *Prediction) Pick(match string) int {
	if !p.has(match) {
		return -1
	}
	return p.Picks[match]
}

// predictionOf decodes a prediction for an event.
func predictionOf(it attr.Item, event string) (p Prediction, err error) {
	p.User, p.Picks, p.was = userOf(it), map[string]int{}, it
	if err := table.Unmarshal(it, &p); err != nil {
		return p, err
	}
	if p.User == "" || it["SK"].Str() != prefixEvent+event {
		return p, fmt.Errorf("its key is not that of a prediction for the event %s", event)
	}
	return p, checkIndexed(it, "prediction", prefixEvent+event)
}

// Standing is a user's row in the standings of a year.
type Standing struct {
	Placed
	Played int `dynamodbav:"eplayed" json:"eplayed"`
}

// standingOf decodes a row of the standings of a year.
func standingOf(it attr.Item, year string) (st Standing, err error) {
	if st.User = userOf(it); st.User == "" || it["SK"].Str() != prefixStandings+year {
		return st, fmt.Errorf("its key is not that of a user's standing in %s", year)
	}
	return st, table.Unmarshal(it, &st)
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
