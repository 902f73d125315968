package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"rsc.io/qr"
)

// The values that the kit's templates read (templates/kit.html). An application's template says where a part stands:
//
//	{{template "kit-table" .Table}}  {{template "kit-pad" .Keys}}
//
// A Class is one of the application's style sheet, which sets --ink, the colour of a side.

// Pill is a state in a word: live, pause, over, soon.
type Pill struct{ Class, Icon, Text string }

// Timeline is what happened, the newest first.
type Timeline struct {
	ID, Title string // of the part
	Items     []Happening
	Rest      string // what is left out
	None      string // said where nothing happened
}

// Happening is one thing that happened.
type Happening struct {
	Key        string
	Kind       string // of its token: good, bad, edge, milestone, end, or what the application's style sheet has
	Mark, Icon string // what the token shows: a few letters, or the name of an icon
	Side       string // class of whose it is; empty: nobody's
	Where, At  string
	Stamp      string // the time of At, machine-readable
	Text, Note string
	NoteIcon   string // with one the note counts
	Loud       bool   // read out at once
}

// Tabs lead to the parts of a page.
type Tabs struct {
	Label string
	Links []Tab
}

// Tab is one of them.
type Tab struct {
	Link
	Here bool
}

// NewTabs makes the tabs of the pages below an address: {"/results", "Results"} leads to that path. here is the path of the page they stand on.
func NewTabs(label, base, here string, all ...[2]string) Tabs {
	t := Tabs{Label: label}
	for _, one := range all {
		t.Links = append(t.Links, Tab{Link{Href: base + one[0], Text: one[1]}, one[0] == here})
	}
	return t
}

// Pad is a grid of big keys, each of which is a write of its own.
type Pad struct {
	Label, Action string
	Method        string // POST when empty
	Until         int64  // ms by the node's clock, after which they are not sent any more; 0: they always are
	Wide          bool
	Keys          []Key
}

// Key is one of them. Name and Value are the member that it sends: "picks.m1" is one of the member picks.
type Key struct {
	Name, Value string
	Number      bool // the value is sent as a number
	Text, Aside string
	What        string // says the write in words, while it waits; empty: what the key says
	Main, Off   bool
}

// Countdown runs down to an instant, by the node's clock.
type Countdown struct {
	Label string
	Until time.Time
	Left  string // what it shows until a script does
	Over  string // said from then on
}

// Figure is a picture with words under it.
type Figure struct {
	SVG  template.HTML
	Text string
}

// NewCountdown makes a countdown as it stands now.
func NewCountdown(label string, now, until time.Time, over string) Countdown {
	c := Countdown{Label: label, Until: until, Over: over, Left: over}
	if s := int(until.Sub(now).Round(time.Second).Seconds()); s >= 3600 {
		c.Left = fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	} else if s > 0 {
		c.Left = fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return c
}

// QR is a figure of a code that leads to an address.
func QR(address, text string) (Figure, error) {
	code, err := qr.Encode(address, qr.M)
	if err != nil {
		return Figure{}, fmt.Errorf("QR code: %w", err)
	}
	const quiet = 4 // modules of white around it, as readers want
	var path strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	side := code.Size + 2*quiet
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="QR code" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%dv%dH0z"/><path d="%s"/></svg>`,
		side, side, side, side, path.String())
	return Figure{SVG: template.HTML(svg), Text: text}, nil //nolint:gosec // numbers alone
}
