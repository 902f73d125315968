package page

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"

	"github.com/touchline/touchline/httpapi/operator"
)

// Top is the bar at the top of the page: the match, its status, and how current the figures are.
type Top struct {
	Competition string
	Detail      string // round, venue, type
	Pill        Pill
	Badges      Badges
}

// Pill is the status of a match as one word with an icon, because colour alone is not enough.
type Pill struct {
	Class string // live, pause, over, soon
	Icon  string
	Text  string
}

// Badges show the state of the node and its data.
type Badges struct {
	Age    string // "data 2 s old"
	Stale  bool
	Notice string // shown over the page while the feed is silent
	Role   string
	Cloud  string
	Speed  string // empty at real speed
	Clock  string
}

func (b *builder) top() Top {
	f, d := &b.in.Fixture, &b.in.Display
	badges := newBadges(&b.in.Node, playing(d.Phase), d.UpdatedAt)
	pill := pillOf(d.Phase, d.Status, d.Day)
	if badges.Stale && pill.Class == "live" {
		pill = Pill{"pause", "clock", "Live, stale"}
	}
	return Top{Competition: cmp.Or(f.LeagueName, d.League), Detail: joinTexts(f.Round, f.Type, f.Venue), Pill: pill, Badges: badges}
}

// playing reports whether the figures are expected to change.
func playing(p cricket.Phase) bool { return p == cricket.PhaseLive }

func pillOf(phase cricket.Phase, status string, day int) Pill {
	switch phase {
	case cricket.PhaseLive:
		return Pill{"live", "dot", "Live"}
	case cricket.PhaseInningsBreak:
		return Pill{"pause", "swap", "Innings break"}
	case cricket.PhaseBreak:
		return Pill{"pause", "cup", status}
	case cricket.PhaseInterrupted:
		return Pill{"pause", "rain", "Play stopped"}
	case cricket.PhaseStumps:
		if day > 0 {
			return Pill{"over", "stumps", fmt.Sprintf("Stumps, day %d", day)}
		}
		return Pill{"over", "stumps", "Stumps"}
	case cricket.PhaseCompleted:
		return Pill{"over", "trophy", "Result"}
	case cricket.PhasePostponed:
		return Pill{"pause", "clock", "Postponed"}
	case cricket.PhaseAbandoned:
		if cricket.Status(status).NotPlayed() {
			return Pill{"over", "rain", "Cancelled"}
		}
		return Pill{"over", "rain", "Abandoned"}
	case cricket.PhaseNoNews:
		return Pill{"over", "clock", "No more news"}
	default:
		return Pill{"soon", "clock", "Upcoming"}
	}
}

// newBadges describes the state of the data. Only a match in play can be stale: in a break no change is expected.
func newBadges(n *NodeStatus, live bool, updated time.Time) Badges {
	b := Badges{Role: n.Role, Cloud: cloudText(n.Cloud), Clock: n.Clock.Now.UTC().Format("15:04:05")}
	if n.Clock.Speed != "" && n.Clock.Speed != "real" && n.Clock.Speed != "1x" {
		b.Speed = n.Clock.Speed
		if factor, ok := strings.CutSuffix(b.Speed, "x"); ok && b.Speed != "max" {
			b.Speed = factor + "×"
		}
	}
	age := time.Duration(n.Feed.AgeSeconds * float64(time.Second))
	switch {
	case n.Feed.LastAt.IsZero():
		b.Age = "no data yet"
	case live && age > staleAfter(n.Clock.Speed):
		b.Age, b.Stale = "data "+ago(age)+" old", true
		b.Notice = fmt.Sprintf("The feed has been silent for %s. These figures are from %s UTC.",
			ago(age), updated.UTC().Format("15:04:05"))
	default:
		b.Age = "data " + ago(age) + " old"
	}
	return b
}

// staleAfter returns the age at which a live figure is no longer current: half a minute, and at least three real seconds on a fast clock.
func staleAfter(speed string) time.Duration {
	if speed == "max" {
		return time.Hour
	}
	factor, err := strconv.ParseFloat(strings.TrimSuffix(speed, "x"), 64)
	if err != nil {
		factor = 1
	}
	return max(30*time.Second, time.Duration(factor*3*float64(time.Second)))
}

// cloudText describes the connection to the cloud in a few words.
func cloudText(c operator.CloudStatus) string {
	waiting := plural(c.Waiting, "write", "writes") + " waiting"
	offline := "offline"
	if !c.Since.IsZero() {
		offline += " since " + c.Since.UTC().Format("15:04")
	}
	switch {
	case c.State == "in_step":
		return "cloud in step"
	case c.State == "offline" && c.Waiting > 0:
		return offline + ", " + waiting
	case c.State == "offline":
		return "cloud " + offline
	case c.State == "stopped":
		return "cloud stopped, " + waiting
	case c.Waiting > 0:
		return waiting
	default:
		return "no cloud"
	}
}
