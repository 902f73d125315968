package payload

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

// Sizes of a push in bytes. Most take 500 to 700. Above pushCeiling the state is pruned; above MaxPush, Apple's
// limit, the push is refused here.
const (
	MaxPush      = 4096
	pushCeiling  = 2048
	minStateSize = 256
)

// AttributesType is the Swift type of an activity's fixed attributes.
const AttributesType = "MatchAttributes"

// ActivityEvent is the action of a push to a Live Activity.
type ActivityEvent string

// The events of a Live Activity.
const (
	ActivityStart  ActivityEvent = "start"
	ActivityUpdate ActivityEvent = "update"
	ActivityEnd    ActivityEvent = "end"
)

// Alert is a notification that lights up the screen.
type Alert struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Sound string `json:"sound,omitempty"`
}

// Attributes do not change during an activity's life.
type Attributes struct {
	MatchID string          `json:"matchId"`
	League  string          `json:"league"`
	Teams   []AttributeTeam `json:"teams"`
}

// AttributeTeam names a side.
type AttributeTeam struct {
	ID   int64  `json:"id"`
	Code string `json:"code"`
	Name string `json:"name"`
}

// NewAttributes returns the fixed part of a display.
func NewAttributes(d *cricket.Display) *Attributes {
	a := &Attributes{MatchID: d.MatchID, League: cut(d.League, 40), Teams: []AttributeTeam{}}
	for _, t := range d.Teams {
		a.Teams = append(a.Teams, AttributeTeam{ID: t.ID, Code: codeOf(d, &t), Name: cut(t.Name, 30)})
	}
	return a
}

// ActivityPush is one push to a Live Activity.
type ActivityPush struct {
	Event      ActivityEvent
	At         time.Time     // time of the state: a phone ignores anything older than what it shows
	State      *ContentState // nil: an end that leaves the state unchanged
	StaleAt    time.Time     // zero: never
	DismissAt  time.Time     // for an end: when it leaves the lock screen; zero: after four hours
	Alert      *Alert        // required for a start
	Attributes *Attributes   // for a start
	Relevance  int           // orders the cards of an app: the highest is on the island
	Channel    string        // for a start: the broadcast channel that the activity listens to; empty: it gets a token
}

type apsBody struct {
	APS aps `json:"aps"`
}

type aps struct {
	Timestamp      int64           `json:"timestamp"`
	Event          ActivityEvent   `json:"event"`
	ContentState   json.RawMessage `json:"content-state,omitempty"`
	StaleDate      int64           `json:"stale-date,omitempty"`
	Relevance      int             `json:"relevance-score,omitempty"`
	DismissalDate  int64           `json:"dismissal-date,omitempty"`
	Alert          *Alert          `json:"alert,omitempty"`
	AttributesType string          `json:"attributes-type,omitempty"`
	Attributes     *Attributes     `json:"attributes,omitempty"`
	InputToken     int             `json:"input-push-token,omitempty"`
	InputChannel   string          `json:"input-push-channel,omitempty"`
}

// Encode builds the payload for Apple, pruned to pushCeiling bytes, or to limit if that is less and not 0.
func (p *ActivityPush) Encode(limit int) ([]byte, error) {
	if p.Event == ActivityStart && (p.Alert == nil || p.Attributes == nil) {
		return nil, fault.New(fault.Internal, "push_start", "a start needs an alert and attributes")
	}
	if p.Event != ActivityEnd && p.State == nil {
		return nil, fault.New(fault.Internal, "push_state", "a push without a state")
	}
	if limit <= 0 || limit > pushCeiling {
		limit = pushCeiling
	}
	body := apsBody{APS: aps{
		Timestamp: p.At.Unix(), Event: p.Event,
		StaleDate: epoch(p.StaleAt), Relevance: p.Relevance, DismissalDate: epoch(p.DismissAt), Alert: p.Alert, Attributes: p.Attributes,
	}}
	if p.Attributes != nil {
		body.APS.AttributesType = AttributesType
	}
	switch {
	case p.Event != ActivityStart:
	case p.Channel != "":
		body.APS.InputChannel = p.Channel
	default:
		body.APS.InputToken = 1
	}
	raw, err := encodeContent(body)
	if err == nil && p.State != nil {
		room := limit - len(raw) - len(`"content-state":,`)
		if body.APS.ContentState, err = p.State.encode(max(minStateSize, room), p.tells()); err == nil {
			raw, err = encodeContent(body)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxPush {
		return nil, fault.New(fault.TooLarge, "push_size", "the push has %d bytes, Apple accepts %d", len(raw), MaxPush)
	}
	return raw, nil
}

// tells reports whether the push is of an alert, so that its state's key event is what the phone says.
func (p *ActivityPush) tells() bool { return p.Event == ActivityUpdate && p.Alert != nil }

// Relevance returns how much a card matters among those of other matches, by the state of play, from 1 to 100.
func Relevance(d *cricket.Display) int {
	const ballsOfEnd = 30
	switch d.Phase {
	case cricket.PhaseLive:
		switch {
		case d.Required > 0 && d.BallsLeft > 0 && d.BallsLeft <= ballsOfEnd && d.Required <= 2*d.BallsLeft:
			return 100
		case d.Required > 0:
			return 80
		}
		return 60
	case cricket.PhaseInningsBreak, cricket.PhaseBreak:
		return 40
	case cricket.PhaseInterrupted:
		return 30
	case cricket.PhasePrematch:
		return 20
	default:
		return 10
	}
}

func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

const alertSound = "default"

// NewAlert returns the alert for an event.
func NewAlert(d *cricket.Display, e *cricket.Event) *Alert {
	title := alertTitle(e.Type)
	if title == "" {
		title = versus(d)
	}
	if n, _, several := strings.Cut(e.Text, cricket.WicketsCry); several && e.Type == cricket.EventWicket {
		title = n + " wickets"
	}
	return &Alert{Title: cut(title, 60), Body: cut(withScores(d, e), 170), Sound: alertSound}
}

// NameMatch adds the match's name to an alert's title, for a phone whose user follows more than one at this time: "Wicket · England v India".
func (a *Alert) NameMatch(d *cricket.Display) {
	if name := versus(d); a.Title != cut(name, 60) {
		a.Title = cut(a.Title+" · "+name, 60)
	}
}

// Telling returns the state for an alert's push, with the alert's event as its key event: an iPhone shows the state, and the text
// of the alert is for the Watch.
func (c ContentState) Telling(d *cricket.Display, e *cricket.Event) ContentState {
	k := ContentEvent{Type: cricket.WireType(e.Type), Text: e.Text, At: SwiftDate(e.At)}
	if shown := d.KeyEvent; shown != nil && shown.Key == e.Key {
		k.At = SwiftDate(shown.At)
	}
	c.KeyEvent = &k
	return c
}

// StartAlert returns the alert shown when an activity is started by push.
func StartAlert(d *cricket.Display) *Alert {
	body := d.Note
	for _, better := range []string{d.Equation, d.Result} {
		if better != "" {
			body = better
		}
	}
	if body == "" {
		body = "The match is live."
	}
	return &Alert{Title: cut(versus(d), 60), Body: cut(body, 170), Sound: alertSound}
}

// versus returns the match's name. It does not turn round with the innings.
func versus(d *cricket.Display) string {
	if len(d.Teams) < 2 {
		return d.League
	}
	one, two := d.Teams[0].Name, d.Teams[1].Name
	if d.Home != 0 && d.Teams[1].ID == d.Home {
		one, two = two, one
	}
	return one + " v " + two
}

// codeOf returns a side's code, or its name if both sides have one code.
func codeOf(d *cricket.Display, t *cricket.TeamScore) string {
	const longest = 16
	for i := range d.Teams {
		if o := &d.Teams[i]; o.ID != t.ID && strings.EqualFold(o.Code, t.Code) && o.Name != t.Name {
			return cut(t.Name, longest)
		}
	}
	return cut(t.Code, 8)
}

// withScores adds the scores to a result, or another result in its place, that lacks them, in the order of batting: "India won by
// 18 runs · IND 182/5, AUS 164".
func withScores(d *cricket.Display, e *cricket.Event) string {
	const result = "result"
	if another := e.FactKey() == result && e.Instead != ""; e.Key != result && !another {
		return e.Text
	}
	var lines []string
	for i := range d.Innings {
		in := &d.Innings[i]
		j := slices.IndexFunc(d.Teams, func(t cricket.TeamScore) bool { return t.ID == in.TeamID })
		if j >= 0 && !in.SuperOver {
			lines = append(lines, codeOf(d, &d.Teams[j])+" "+inningsScore(in))
		}
	}
	if len(lines) == 0 || strings.Contains(e.Text, "Match over: ") {
		return e.Text
	}
	return e.Text + " · " + strings.Join(lines, ", ")
}

// alertTitle returns the headline of an alert; empty: use the match's name.
func alertTitle(t cricket.EventType) string {
	return map[cricket.EventType]string{
		cricket.EventWicket:        "Wicket",
		cricket.EventHatTrick:      "Hat-trick",
		cricket.EventFifty:         "Fifty",
		cricket.EventHundred:       "Hundred",
		cricket.EventTwoHundred:    "Hundred",
		cricket.EventFiveFor:       "Five wickets",
		cricket.EventTenFor:        "Ten wickets",
		cricket.EventInningsEnd:    "End of innings",
		cricket.EventDeclared:      "End of innings",
		cricket.EventSuperOver:     "Super over",
		cricket.EventTargetRevised: "Target revised",
		cricket.EventInterrupted:   "Play stopped",
		cricket.EventStumps:        "Stumps",
		cricket.EventResult:        "Result",
		cricket.EventTie:           "Result",
		cricket.EventDraw:          "Result",
		cricket.EventNoResult:      "Result",
		cricket.EventAbandoned:     "Result",
		cricket.EventCorrection:    "Correction",
	}[t]
}
