package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"rsc.io/qr"
)

// The data of the kit's templates (templates/kit.html). An application's template places a part:
//
//	{{template "kit-table" .Table}}
//	{{template "kit-key" dict "Name" "points" "Value" 2 "Number" true "Text" "+2"}}
//
// A key (kit-key) is a large button of a pad: a form with the class pad, data-queue with the method of its writes, and data-until with the
// node's time in ms after which they are no longer sent, if there is one. Name and Value are the member that a key sends: "picks.m1" is
// member m1 of picks. Number: the value is a number. What describes the write while it waits; without it, the key's text. Off disables it;
// Aside says why. Choice: of the keys of its pad one is chosen, the one with Main, or the one that was pressed last.
//
// A Class is a class of the application's style sheet, which sets --ink, the colour of a side.

// Pill is a state in one word: live, pause, over, soon.
type Pill struct{ Class, Icon, Text string }

// Timeline is a list of events, newest first.
type Timeline struct {
	ID, Title string // id and title of the part
	Items     []Happening
	Rest      string // note about omitted events
	None      string // shown if there are no events
}

// Happening is one event of a Timeline.
type Happening struct {
	Key        string
	Kind       string // style of its token: good, bad, edge, milestone, end, or one in the application's style sheet
	Mark, Icon string // text of the token, a few letters, or the name of an icon
	Side       string // class of the side that it belongs to; empty: none
	Where, At  string
	Stamp      string // At in machine-readable form
	Text, Note string
	NoteIcon   string // icon that emphasizes the note; empty: none
	Loud       bool   // announced immediately by screen readers
}

// Tabs are links to the parts of a page.
type Tabs struct {
	Label string
	Links []Tab
}

// Tab is one of Tabs. Here marks the current page.
type Tab struct {
	Link
	Here bool
}

// newTabs returns tabs for pages below base, given as paths and texts in turn: "/results", "Results" links to base + "/results". here is
// the path of the current page.
func newTabs(label, base, here string, all ...string) Tabs {
	t := Tabs{Label: label}
	for i := 0; i+1 < len(all); i += 2 {
		t.Links = append(t.Links, Tab{Link{Href: base + all[i], Text: all[i+1]}, all[i] == here})
	}
	return t
}

// Countdown counts down to an instant by the node's clock.
type Countdown struct {
	Label string
	Until time.Time
	Left  string // shown until the script takes over
	Over  string // shown afterwards
}

// Figure is a picture with a caption.
type Figure struct {
	SVG  template.HTML
	Text string
}

// newCountdown returns a countdown as of now.
func newCountdown(label string, now, until time.Time, over string) Countdown {
	c := Countdown{Label: label, Until: until, Over: over, Left: over}
	if s := int(until.Sub(now).Round(time.Second).Seconds()); s >= 3600 {
		c.Left = fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	} else if s > 0 {
		c.Left = fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return c
}

// CloudLine says whether all of a game is in the cloud, or what is not and why.
type CloudLine struct {
	Cloud   bool      // the node has one
	Writes  int       // that the cloud has not confirmed
	Oldest  time.Time // when the oldest of them was made; zero: unknown
	Why     string    // it waits
	Since   time.Time // of Why; zero: no time belongs to it
	Refused []string  // what the cloud has not accepted, a sentence each
	More    int       // refusals that are not among them
	Review  string    // address of the page on which they are decided; empty: none
}

// Whole reports whether the cloud has everything.
func (c CloudLine) Whole() bool { return c.Cloud && c.Writes == 0 && len(c.Refused) == 0 }

// newQR returns a figure with the QR code of an address, and the address below it.
func newQR(address string) (Figure, error) {
	code, err := qr.Encode(address, qr.M)
	if err != nil {
		return Figure{}, fmt.Errorf("QR code: %w", err)
	}
	const quiet = 4 // width of the white border in modules, as the standard requires
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
	return Figure{SVG: template.HTML(svg), Text: address}, nil //nolint:gosec // contains only numbers
}
