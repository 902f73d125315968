package payload

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

var updateContent = flag.Bool("update-content", false, "rewrite the golden files of pushes")

// contentCase is a golden file: a display and the push made from it.
type contentCase struct {
	Event        ActivityEvent   `json:"event"`
	DismissAfter int             `json:"dismissAfter,omitempty"` // seconds
	Alert        *cricket.Event  `json:"alert,omitempty"`
	Display      cricket.Display `json:"display"`
	Push         json.RawMessage `json:"push"`
}

func (c *contentCase) encode() ([]byte, error) {
	d := &c.Display
	at := d.UpdatedAt.Add(time.Second)
	state := NewContentState(d)
	p := ActivityPush{Event: c.Event, At: at, State: &state, StaleAt: at.Add(20 * time.Minute)}
	if c.Alert != nil {
		p.Alert = NewAlert(d, c.Alert)
	}
	if c.Event == ActivityStart {
		p.Alert, p.Attributes = StartAlert(d), NewAttributes(d)
	}
	if c.DismissAfter != 0 {
		p.DismissAt = at.Add(time.Duration(c.DismissAfter) * time.Second)
	}
	return p.Encode(0)
}

// The title of an alert counts as many wickets as its text.
func TestTitleOfSeveralWickets(t *testing.T) {
	for text, want := range map[string]string{
		"WICKET! P101 b P211 0 (2) · ALP 0/1 (0.2)":                            "Wicket",
		"2 wickets! P101 b P211 0 (2), P103 b P211 0 (2) · ALP 0/2 (0.4)":      "2 wickets",
		"10 wickets! P101 b P211 0 (2), P103 b P211 0 (2) · ALP 9 all out (4)": "10 wickets",
	} {
		if got := NewAlert(&cricket.Display{}, &cricket.Event{Type: cricket.EventWicket, Text: text}).Title; got != want {
			t.Errorf("%q is titled %q, want %q", text, got, want)
		}
	}
}

func TestContentGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/content/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c contentCase
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			got, err := c.encode()
			if err != nil {
				t.Fatal(err)
			}
			if *updateContent {
				c.Push = got
				out, err := json.MarshalIndent(c, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, append(out, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var have, want any
			if err := json.Unmarshal(got, &have); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(c.Push, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("push (-want +got):\n%s", d)
			}
			if len(got) > 1000 {
				t.Errorf("%d bytes: a usual push has 500 to 900", len(got))
			}
		})
	}
}

// TestContentHash: a run and a banner count as changes, the times alone do not.
func TestContentHash(t *testing.T) {
	d := cricket.Display{MatchID: "1", Teams: []cricket.TeamScore{{Code: "A", Runs: 1}, {Code: "B"}}, UpdatedAt: time.Unix(1e9, 0)}
	first := NewContentState(&d).Hash()
	d.UpdatedAt = d.UpdatedAt.Add(time.Second)
	if NewContentState(&d).Hash() != first {
		t.Error("a later time alone counts as a change")
	}
	d.KeyEvent = &cricket.KeyEvent{Key: "w:1:1", Text: "WICKET!", At: time.Unix(1e9, 0)}
	banner := NewContentState(&d).Hash()
	if banner == first {
		t.Error("a banner does not count as a change")
	}
	if d.KeyEvent.At = d.KeyEvent.At.Add(time.Second); NewContentState(&d).Hash() != banner {
		t.Error("another time of the banner's event alone counts as a change")
	}
	d.KeyEvent = nil
	d.Teams[0].Runs++
	if NewContentState(&d).Hash() == first {
		t.Error("a run does not count as a change")
	}
}

// TestContentFits: a push fits even if the display has absurdly long texts.
func TestContentFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 3000, -1)
		d := cricket.Display{
			MatchID: "1", League: text.Draw(t, "league"), Phase: cricket.PhaseLive, Status: text.Draw(t, "status"),
			Note: text.Draw(t, "note"), Equation: text.Draw(t, "equation"), Result: text.Draw(t, "result"),
			KeyEvent: &cricket.KeyEvent{Type: "wicket", Text: text.Draw(t, "key event")},
			Bowler:   &cricket.Bowler{Name: text.Draw(t, "bowler")}, UpdatedAt: time.Unix(1e9, 0),
		}
		for range rapid.IntRange(0, 2).Draw(t, "teams") {
			d.Teams = append(d.Teams, cricket.TeamScore{Code: text.Draw(t, "code"), Name: text.Draw(t, "name"), Overs: "1.0"})
		}
		for range rapid.IntRange(0, 2).Draw(t, "batters") {
			d.Batters = append(d.Batters, cricket.Batter{Name: text.Draw(t, "batter")})
		}
		for range 6 {
			d.LastBalls = append(d.LastBalls, cricket.BallMark{Mark: "1nb"})
		}
		state := NewContentState(&d)
		before := state.Hash()
		p := ActivityPush{
			Event: ActivityStart, At: d.UpdatedAt, State: &state, Alert: NewAlert(&d, &cricket.Event{Text: text.Draw(t, "alert")}),
			Attributes: NewAttributes(&d),
		}
		raw, err := p.Encode(0)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > MaxPush {
			t.Fatalf("%d bytes", len(raw))
		}
		if !json.Valid(raw) {
			t.Fatalf("invalid JSON: %s", raw)
		}
		if state.Hash() != before {
			t.Fatal("encoding changed the state")
		}
	})
}

func TestEncodeRefuses(t *testing.T) {
	p := ActivityPush{Event: ActivityStart}
	if _, err := p.Encode(0); err == nil {
		t.Error("a start without an alert was encoded")
	}
	if _, err := (&ActivityPush{Event: ActivityUpdate}).Encode(0); err == nil {
		t.Error("an update without a state was encoded")
	}
	if raw, err := (&ActivityPush{Event: ActivityEnd}).Encode(0); err != nil || strings.Contains(string(raw), "content-state") {
		t.Errorf("an end without a state: %s, %v", raw, err)
	}
	big := ActivityPush{Event: ActivityUpdate, State: &ContentState{}, Alert: &Alert{Title: strings.Repeat("x", MaxPush)}}
	if _, err := big.Encode(0); !fault.Is(err, fault.TooLarge) {
		t.Errorf("above Apple's limit: %v", err)
	}
}

// TestPruningOrder prunes the state step by step; the score always remains.
func TestPruningOrder(t *testing.T) {
	lead := 3
	c := ContentState{
		Phase: cricket.PhaseLive, Teams: []ContentTeam{{Code: "ENG", Runs: 220}}, Note: strings.Repeat("n", 100),
		Batters: []ContentBatter{{Name: "Stokes"}}, Bowler: &ContentBowler{Name: "Neesham"}, Lead: &lead,
		LastBalls: []string{"1"}, Stand: &cricket.Stand{}, KeyEvent: &ContentEvent{Text: strings.Repeat("k", 100)},
	}
	size := 1 << 20
	for limit := 700; limit > 0; limit -= 20 {
		raw, err := c.Encode(limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > size {
			t.Errorf("limit %d: %d bytes, more than with a higher limit", limit, len(raw))
		}
		size = len(raw)
		if !strings.Contains(string(raw), `"runs":220`) {
			t.Fatalf("limit %d: the score is gone: %s", limit, raw)
		}
	}
	if size > 200 {
		t.Errorf("%d bytes at the end", size)
	}
}

// The state of an alert's push has the alert's event as its key event, whatever the banner shows; a result's text for the Watch has
// the scores, and the match's name does not turn round with the innings.
func TestAlertState(t *testing.T) {
	d := &cricket.Display{
		Home:  1,
		Teams: []cricket.TeamScore{{ID: 2, Name: "Betas", Code: "BET"}, {ID: 1, Name: "Alphas", Code: "ALP"}},
		Innings: []cricket.InningsLine{
			{No: 1, TeamID: 1, Runs: 182, Wickets: 5}, {No: 2, TeamID: 2, Runs: 164, Wickets: 10, AllOut: true},
		},
		KeyEvent: &cricket.KeyEvent{Key: "w:1:3", Type: "wicket", Text: "WICKET! Kohli b Starc 54 (63) · IND 182/4 (32.1)"},
	}
	told := &cricket.Event{Key: "m50:1:7", Type: cricket.EventFifty, Text: "FIFTY! Gill 50 (41)"}
	state := NewContentState(d)
	with := state.Telling(d, told)
	if k := with.KeyEvent; k.Text != told.Text || k.Type != "fifty" || state.KeyEvent.Type != "wicket" {
		t.Errorf("the alert's state says %+v", k)
	}
	a := NewAlert(d, &cricket.Event{Key: "result", Type: cricket.EventResult, Text: "Alphas won by 18 runs"})
	if a.Body != "Alphas won by 18 runs · ALP 182/5, BET 164" {
		t.Errorf("the result is %q", a.Body)
	}
	corrected := cricket.Event{Key: "corr:result:2", Type: cricket.EventCorrection, Text: "Correction: Betas won by 2 runs", Detail: "result", Instead: "Betas won by 2 runs"}
	if got := NewAlert(d, &corrected).Body; got != "Correction: Betas won by 2 runs · ALP 182/5, BET 164" {
		t.Errorf("the other result is %q", got)
	}
	if got := StartAlert(d).Title; got != "Alphas v Betas" {
		t.Errorf("the match is called %q", got)
	}
	p := ActivityPush{Event: ActivityUpdate, At: d.UpdatedAt, State: &with, Alert: NewAlert(d, told)}
	raw, err := p.Encode(minStateSize)
	if err != nil || !strings.Contains(string(raw), `"keyEvent"`) {
		t.Errorf("a short state of an alert's push does not say it: %s, %v", raw, err)
	}
	a.NameMatch(d)
	if want := "Result · Alphas v Betas"; a.Title != want {
		t.Errorf("the title is %q, want %q", a.Title, want)
	}
}

// Sides with one code go by their names, on the card too.
func TestSidesWithOneCode(t *testing.T) {
	d := &cricket.Display{
		Teams:   []cricket.TeamScore{{ID: 1, Name: "India", Code: "IND"}, {ID: 2, Name: "India A", Code: "IND"}},
		Innings: []cricket.InningsLine{{No: 1, TeamID: 1, Runs: 182, Wickets: 5}, {No: 2, TeamID: 2, Runs: 164, Wickets: 8}},
	}
	if got := NewAlert(d, &cricket.Event{Key: "result", Text: "India won by 18 runs"}).Body; got != "India won by 18 runs · India 182/5, India A 164/8" {
		t.Errorf("the result is %q", got)
	}
	if c := NewContentState(d); c.Teams[0].Code != "India" || c.Teams[1].Code != "India A" || NewAttributes(d).Teams[1].Code != "India A" {
		t.Errorf("the card has %+v", c.Teams)
	}
}

// No notification is above Apple's limit, however long its words are: a match's, and an admin's of the longest text.
func TestNotificationsFit(t *testing.T) {
	long := strings.Repeat("\u2028<&\"", 300)
	d := cricket.Display{MatchID: strings.Repeat("7", 64), Teams: []cricket.TeamScore{{ID: 1, Name: long, Code: long}, {ID: 2, Name: long, Code: long}}}
	for _, e := range []cricket.Event{
		{Key: "result", Type: cricket.EventResult, Text: long}, {Key: "corr:w:1:1", Type: cricket.EventCorrection, Text: long}, {Key: "start", Type: cricket.EventMatchStart, Text: long},
	} {
		for _, display := range []*cricket.Display{&d, nil} {
			n := NewNotification(display, d.MatchID, &e)
			raw, err := n.Encode()
			if err != nil || len(raw) > MaxPush || !json.Valid(raw) {
				t.Errorf("%s: %d bytes, %v", e.Key, len(raw), err)
			}
			if id := CollapseID(d.MatchID, &e); len(id) > 64 {
				t.Errorf("%s: a collapse id of %d bytes", e.Key, len(id))
			}
		}
	}
	if _, err := (&Notification{Title: "t", Body: strings.Repeat("x", MaxPush)}).Encode(); err == nil {
		t.Error("a notification above the limit was built")
	}
}

// The card of the match that matters most now is on top of the others.
func TestRelevance(t *testing.T) {
	order := []cricket.Display{
		{Phase: cricket.PhaseLive, Required: 20, BallsLeft: 12},
		{Phase: cricket.PhaseLive, Required: 120, BallsLeft: 100},
		{Phase: cricket.PhaseLive},
		{Phase: cricket.PhaseInningsBreak},
		{Phase: cricket.PhaseInterrupted},
		{Phase: cricket.PhasePrematch},
		{Phase: cricket.PhaseCompleted},
	}
	for i := 1; i < len(order); i++ {
		if a, b := Relevance(&order[i-1]), Relevance(&order[i]); a <= b || b < 1 {
			t.Errorf("%+v has %d, %+v has %d", order[i-1], a, order[i], b)
		}
	}
	p := ActivityPush{Event: ActivityUpdate, State: &ContentState{}, Relevance: Relevance(&order[0])}
	if raw, err := p.Encode(0); err != nil || !strings.Contains(string(raw), `"relevance-score":100`) {
		t.Errorf("%s, %v", raw, err)
	}
}
