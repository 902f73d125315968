// Package presence knows which devices score a game: since when, when each was last heard, and what it had waiting then. Scorers hand the scoring
// over to each other, and whoever finished a game learns of entries that came later. All of it is memory of one node: it costs no row, and is
// forgotten when the node ends. It refuses nothing: an entry counts whoever makes it.
package presence

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

const (
	// HereFor is how long after its last request a device counts as present. An open page asks every few seconds.
	HereFor = 30 * time.Second
	// KeptFor is how long a device is remembered after its last request, and a game after its last device.
	KeptFor = 24 * time.Hour
	// MaxGames bounds the games that are remembered; those that have been silent for longest go first.
	MaxGames = 500
	// MaxDevices bounds the devices of a game; those that have been silent for longest go first.
	MaxDevices = 40
)

// Who is a person with a device.
type Who struct {
	User   string // id of the account
	Name   string // for people
	Device string // hash of the device's id; empty: unknown
}

// Key names the device among those of a game, without telling who it is.
func (w Who) Key() string {
	sum := sha256.Sum256([]byte("scorer\n" + w.User + "\n" + w.Device))
	return hex.EncodeToString(sum[:8])
}

// Report is what a device said of its entries with its latest request.
type Report struct {
	Known   bool
	Waiting int // entries on it that have not reached a node
}

// Scorer is a device that scores a game, or has its scorer's page open.
type Scorer struct {
	Who
	Report
	Since  time.Time // first heard, on the wall clock like all times shown
	Heard  time.Time // last heard
	Here   bool      // heard lately
	Scored bool      // has made entries for the game
}

// device is a Scorer in memory, with times of the loop's clock.
type device struct {
	Who
	Report
	since, heard time.Time
	scored       bool
}

// game is what is known of one game.
type game struct {
	devices map[string]*device // by key
	touched time.Time

	holder string    // key of the device that has taken the scoring over; empty: nobody has
	giver  string    // key of the device that handed it over; empty: it was taken
	handed time.Time // when

	final *final // nil: the game goes on
}

// final is the end of a game.
type final struct {
	at      time.Time
	by      string   // key; empty: at another node
	scorers []device // those that had scored, as they were heard until then
	late    int      // entries that came afterwards
	lateAt  time.Time
	seen    int // of these, known to whoever finished
}

// Board is the memory of a node for one application.
type Board struct {
	clock clock.Clock

	mu    sync.Mutex
	begun time.Time
	games map[string]*game
}

// NewBoard returns an empty board.
func NewBoard(c clock.Clock) *Board {
	return &Board{clock: c, begun: c.Now(), games: map[string]*game{}}
}

// Hear notes a request of a device about a game: its scorer's page, or an entry.
func (b *Board) Hear(id string, w Who, r Report, entry bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.device(b.game(id), w)
	d.heard, d.Name, d.scored = b.clock.Now(), cmp.Or(w.Name, d.Name), d.scored || entry
	if r.Known {
		d.Report = r
	}
}

// HandOver gives the scoring of a game from one device to another, by its key. fault.NotFound: that one is not known any more.
func (b *Board) HandOver(id string, from Who, to string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.game(id)
	if g.devices[to] == nil {
		return fault.New(fault.NotFound, "", "This device has not been heard of for a day. Choose another.")
	}
	g.holder, g.giver, g.handed = to, b.device(g, from).Key(), b.clock.Now()
	return nil
}

// TakeOver takes the scoring to a device, from whichever has it.
func (b *Board) TakeOver(id string, w Who) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.game(id)
	g.holder, g.giver, g.handed = b.device(g, w).Key(), "", b.clock.Now()
}

// ShareAgain lets everybody score who may.
func (b *Board) ShareAgain(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.game(id)
	g.holder, g.giver = "", ""
}

// Finish notes that a device has finished a game. The devices that had scored are kept as they were heard until then.
func (b *Board) Finish(id string, w Who) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.game(id)
	b.end(g).by = b.device(g, w).Key()
}

// Do carries out what a scorer asks for on a page: give the scoring to a device, take it, share it again; seen is said by whoever finished the
// game of entries that came later.
func (b *Board) Do(id string, w Who, do, to string) error {
	switch do {
	case "give":
		return b.HandOver(id, w, to)
	case "take":
		b.TakeOver(id, w)
	case "share":
		b.ShareAgain(id)
	case "seen":
		b.RecordSeen(id, w)
	}
	return nil
}

// end notes the end of a game, once.
func (b *Board) end(g *game) *final {
	if g.final == nil {
		g.final = &final{at: b.clock.Now()}
		for _, d := range g.devices {
			if d.scored {
				g.final.scorers = append(g.final.scorers, *d)
			}
		}
		slices.SortFunc(g.final.scorers, func(x, y device) int { return cmp.Or(x.since.Compare(y.since), cmp.Compare(x.Key(), y.Key())) })
	}
	return g.final
}

// RecordSeen notes that whoever finished a game knows of the entries that came later. Nobody else can say so.
func (b *Board) RecordSeen(id string, w Who) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.game(id); g.final != nil && g.final.by == w.Key() {
		g.final.seen = g.final.late
	}
}

// game returns the memory of a game, and makes room for it.
func (b *Board) game(id string) *game {
	now := b.clock.Now()
	g := b.games[id]
	if g == nil {
		b.makeRoom(now)
		g = &game{devices: map[string]*device{}}
		b.games[id] = g
	}
	g.touched = now
	return g
}

// makeRoom forgets games that nothing was heard of for long and, if there are too many, the one that has been silent for longest.
func (b *Board) makeRoom(now time.Time) {
	oldest := ""
	for id, g := range b.games {
		if now.Sub(g.touched) >= KeptFor {
			delete(b.games, id)
		} else if oldest == "" || g.touched.Before(b.games[oldest].touched) {
			oldest = id
		}
	}
	if len(b.games) >= MaxGames {
		delete(b.games, oldest)
	}
}

// device returns the memory of a device, and makes room for it. Devices that have scored go after all others.
func (b *Board) device(g *game, w Who) *device {
	now, key := b.clock.Now(), w.Key()
	if d := g.devices[key]; d != nil {
		return d
	}
	oldest := ""
	for other, d := range g.devices {
		last := g.devices[oldest]
		if last == nil || last.scored && !d.scored || last.scored == d.scored && d.heard.Before(last.heard) {
			oldest = other
		}
	}
	if len(g.devices) >= MaxDevices {
		delete(g.devices, oldest)
	}
	d := &device{Who: w, since: now, heard: now}
	g.devices[key] = d
	return d
}
