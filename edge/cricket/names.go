package cricket

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The words for players whose names are not known, and the length beyond which a name is cut.
const (
	batterWord = "Batter"
	bowlerWord = "Bowler"
	longName   = 24
)

// distinct returns the snapshot with those players called in full who share their last name with another: "Moeen Ali",
// "BKG Mendis". The full name is the feed's, which has the initials where it does not know more.
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

// who is how a text calls a player: by last name or, where it is not known, by what the player does.
func (s *Snapshot) who(id int64, otherwise string) string {
	if n, ok := s.Players[id]; ok {
		if name := strings.TrimSpace(cmp.Or(n.Last, n.Full)); name != "" {
			return short(name)
		}
	}
	return otherwise
}

// short cuts a name that would fill a phone's line.
func short(name string) string {
	if r := []rune(name); len(r) > longName {
		return strings.TrimSpace(string(r[:longName-1])) + "…"
	}
	return name
}

// code is how a text calls a side: by code, else by name.
func (s *Snapshot) code(id int64) string {
	t := s.Team(id)
	return short(cmp.Or(strings.TrimSpace(t.Code), strings.TrimSpace(t.Name), fmt.Sprintf("Team %d", id)))
}

// name is a side's name, else its code.
func (s *Snapshot) name(id int64) string {
	t := s.Team(id)
	return cmp.Or(strings.TrimSpace(t.Name), strings.TrimSpace(t.Code), fmt.Sprintf("Team %d", id))
}

// withSides gives sides that came without a name the one that they had before: what a row says then would go on saying "Team 7".
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

// lastName is how a player is called on a card.
func (s *Snapshot) lastName(id int64) string { return s.who(id, "#"+strconv.FormatInt(id, 10)) }

// Team finds a side by its id.
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

// The ways to be out that the feed's words tell apart.
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

// containsFold reports whether a text has a part, whatever its letters' case; it needs no copy of the text.
func containsFold(text, part string) bool {
	for i := range len(text) - len(part) + 1 {
		if strings.EqualFold(text[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// dismissalOf reads the kind from the feed's words, whose spelling varies.
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

// rowDismissal is how the batter of a row is out; where the feed sends no words, who had a hand in it tells.
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

// credited reports whether the bowler gets the wicket.
func (d dismissal) credited() bool {
	switch d {
	case outRunOut, outRetired, outObstructing, outHandled, outHitTwice, outTimedOut:
		return false
	default:
		return true
	}
}

// howOut writes a dismissal as a scorecard does, without the names that are not known.
func (s *Snapshot) howOut(d dismissal, bowler, catcher int64) string {
	by := ""
	if name := s.who(bowler, ""); name != "" {
		by = " b " + name
	}
	switch d {
	case outCaught:
		return s.helped("c", "caught", "c sub", catcher) + by
	case outCaughtBowl:
		if by == "" {
			return "caught and bowled"
		}
		return "c &" + by
	case outLBW:
		return "lbw" + by
	case outStumped:
		return s.helped("st", "stumped", "st", catcher) + by
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

// helped is "c Root": the short word before the fielder's name, other words where the feed names nobody or nobody
// knows the name.
func (s *Snapshot) helped(word, nameless, nobody string, fielder int64) string {
	switch name := s.who(fielder, ""); {
	case fielder == 0:
		return nobody
	case name == "":
		return nameless
	default:
		return word + " " + name
	}
}
