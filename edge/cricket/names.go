package cricket

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Words for players without a known name, and the length beyond which a name is cut.
const (
	batterWord = "Batter"
	bowlerWord = "Bowler"
	longName   = 24
)

// distinct returns the snapshot with full names for players who share a last name: "Moeen Ali", "BKG Mendis".
// The full name is the feed's, with initials if it has no more.
func (s *Snapshot) distinct() *Snapshot {
	count := make(map[string]int, len(s.Players))
	for _, n := range s.Players {
		count[n.Last]++
	}
	delete(count, "")
	maps.DeleteFunc(count, func(_ string, players int) bool { return players < 2 })
	if len(count) == 0 {
		return s
	}
	named := *s
	named.Players = maps.Clone(s.Players)
	for id, n := range s.Players {
		if count[n.Last] > 0 {
			named.Players[id] = Name{Full: n.Full, Last: cmp.Or(n.Full, n.Last)}
		}
	}
	return &named
}

// playerName returns a player's name for texts: the last name, or otherwise if it is not known.
func (s *Snapshot) playerName(id int64, otherwise string) string {
	if n, ok := s.Players[id]; ok {
		if name := strings.TrimSpace(cmp.Or(n.Last, n.Full)); name != "" {
			return short(name)
		}
	}
	return otherwise
}

// short cuts a name that would fill a line of a phone's screen.
func short(name string) string {
	if r := []rune(name); len(r) > longName {
		return strings.TrimSpace(string(r[:longName-1])) + "…"
	}
	return name
}

// code returns a side's code for texts, else its name, also if both sides have one code.
func (s *Snapshot) code(id int64) string {
	t := s.Team(id)
	if a, b := s.Teams[0], s.Teams[1]; strings.EqualFold(strings.TrimSpace(a.Code), strings.TrimSpace(b.Code)) && a.Name != b.Name {
		t.Code = ""
	}
	return short(cmp.Or(strings.TrimSpace(t.Code), strings.TrimSpace(t.Name), fmt.Sprintf("Team %d", id)))
}

// name returns a side's name, else its code.
func (s *Snapshot) name(id int64) string {
	t := s.Team(id)
	return cmp.Or(strings.TrimSpace(t.Name), strings.TrimSpace(t.Code), fmt.Sprintf("Team %d", id))
}

// withSides gives sides that came without a name the one they had before: otherwise a row would be rewritten with "Team 7".
func (s *Snapshot) withSides(before []Side) *Snapshot {
	named := *s
	for i := range named.Teams {
		t := &named.Teams[i]
		j := slices.IndexFunc(before, func(b Side) bool { return b.TeamID == t.ID })
		if t.Name == "" && t.Code == "" && j >= 0 {
			t.Name, t.Code = before[j].Name, before[j].Code
		}
	}
	return &named
}

// lastName returns a player's name for cards.
func (s *Snapshot) lastName(id int64) string { return s.playerName(id, "#"+strconv.FormatInt(id, 10)) }

// Team returns a side by its id.
func (s *Snapshot) Team(id int64) Team {
	for _, t := range s.Teams {
		if t.ID == id {
			return t
		}
	}
	return Team{ID: id, Name: fmt.Sprintf("Team %d", id)}
}

// dismissal is a way to be out.
type dismissal string

// The kinds of dismissal in the feed.
const (
	outBowled      dismissal = "bowled"
	outCaught      dismissal = "caught"
	outCaughtBowl  dismissal = "caught_and_bowled"
	outLBW         dismissal = "lbw"
	outStumped     dismissal = "stumped"
	outRunOut      dismissal = "run_out"
	outHitWicket   dismissal = "hit_wicket"
	outRetired     dismissal = "retired_out"
	outObstructing dismissal = "obstructing"
	outHandled     dismissal = "handled_ball"
	outHitTwice    dismissal = "hit_twice"
	outTimedOut    dismissal = "timed_out"
	outUnknown     dismissal = "out"
)

// containsFold reports whether text contains part, ignoring case, without copying the text.
func containsFold(text, part string) bool {
	for i := range len(text) - len(part) + 1 {
		if strings.EqualFold(text[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// dismissalOf reads the kind from the feed's text, whose spelling varies.
func dismissalOf(outcome string, bowler, catcher int64) dismissal {
	has := func(part string) bool { return containsFold(outcome, part) }
	switch {
	case has("run out"), has("runout"):
		return outRunOut
	case has("caught & bowled"), has("caught and bowled"), has("catch") && catcher == bowler && bowler != 0:
		return outCaughtBowl
	case has("catch"), has("caught"):
		return outCaught
	case has("lbw"):
		return outLBW
	case has("stump"):
		return outStumped
	case has("hit wicket"), has("hit-wicket"):
		return outHitWicket
	case has("retire"):
		return outRetired
	case has("obstruct"):
		return outObstructing
	case has("handled"):
		return outHandled
	case has("twice"):
		return outHitTwice
	case has("timed"):
		return outTimedOut
	case has("bowled"):
		return outBowled
	default:
		return outUnknown
	}
}

// rowDismissal returns how the batter of a row is out; without a text it follows from the players involved.
func rowDismissal(r *BattingRow) dismissal {
	d := dismissalOf(r.HowOut, r.BowlerID, r.CatchID)
	switch {
	case d != outUnknown:
		return d
	case r.RunOutID != 0:
		return outRunOut
	case r.CatchID != 0 && r.CatchID == r.BowlerID:
		return outCaughtBowl
	case r.CatchID != 0:
		return outCaught
	default:
		return d
	}
}

// isCredited reports whether the bowler gets the wicket.
func (d dismissal) isCredited() bool {
	switch d {
	case outRunOut, outRetired, outObstructing, outHandled, outHitTwice, outTimedOut:
		return false
	default:
		return true
	}
}

// howOut writes a dismissal as a scorecard does, without names that are not known.
func (s *Snapshot) howOut(d dismissal, bowler, catcher int64) string {
	by := ""
	if name := s.playerName(bowler, ""); name != "" {
		by = " b " + name
	}
	switch d {
	case outCaught:
		return s.withFielder("c", "caught", "c sub", catcher) + by
	case outCaughtBowl:
		if by == "" {
			return "caught and bowled"
		}
		return "c &" + by
	case outLBW:
		return "lbw" + by
	case outStumped:
		return s.withFielder("st", "stumped", "st", catcher) + by
	case outHitWicket:
		return "hit wicket" + by
	case outBowled:
		return cmp.Or(strings.TrimSpace(by), "bowled")
	case outRunOut:
		return "run out"
	case outRetired:
		return "retired out"
	case outObstructing:
		return "obstructing the field"
	case outHandled:
		return "handled the ball"
	case outHitTwice:
		return "hit the ball twice"
	case outTimedOut:
		return "timed out"
	default:
		return cmp.Or(strings.TrimSpace(by), "out")
	}
}

// withFielder returns "c Root": word and the fielder's name. It returns nobody if the feed gives no fielder, nameless if the name is not known.
func (s *Snapshot) withFielder(word, nameless, nobody string, fielder int64) string {
	switch name := s.playerName(fielder, ""); {
	case fielder == 0:
		return nobody
	case name == "":
		return nameless
	default:
		return word + " " + name
	}
}
