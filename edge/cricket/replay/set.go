package replay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Set plays recordings on the wall clock, any number at once, and is the feed with them. A replay is a match of its own:
// its id is the recording's followed by three digits, or more after a thousand replays, and its times are those at which it
// is played. Nothing ticks: a replay's position follows from the clock. It is safe for concurrent use.
type Set struct {
	clock clock.Clock
	feed  http.Handler

	// Keep is called, with the lock held, after every change, with the result of Save; nil: the set is not kept. Its
	// error is returned for the change, which is made all the same.
	Keep func(saved []byte) error

	mu      sync.Mutex
	started int // number of replays started
	plays   []*play
}

// msPerBall is the pace of recorded matches: the time of a ball in a replay at speed 1.
const msPerBall = float64(ballToBall / time.Millisecond)

// Bounds of a replay's speed, and of the number of replays.
const (
	minSpeed = 0.01
	maxSpeed = 10_000
	maxPlays = 50
	maxStart = 1_000_000 // replays in a set's life that can have distinct ids
)

// Playing is the state of a replay.
type Playing struct {
	ID          string    `json:"id"`
	RecordingID string    `json:"tapeId"`
	MatchID     string    `json:"matchId"` // the match it is played as
	Title       string    `json:"title"`
	Status      string    `json:"status"` // playing, paused, stopped, finished, or the current break
	Cursor      int       `json:"cursor"` // balls bowled
	Balls       int       `json:"balls"`
	MsPerBall   float64   `json:"msPerBall"`
	Speed       float64   `json:"speed"`     // 38,000 / MsPerBall
	StartedAt   time.Time `json:"startedAt"` // the first ball is MsPerBall later; just after a start it is in the future
	Faults      uint64    `json:"faults"`    // seed of feed faults; 0: none
}

// StartReplay starts a recording. Speed 0 means 1, Break 0 means twenty minutes.
type StartReplay struct {
	RecordingID string
	Speed       float64
	Break       time.Duration // between innings and days
	Faults      uint64
}

// Control changes a replay.
type Control struct {
	Action   string  // play, pause, stop, seek, speed, faults
	Position int     // for seek: balls bowled
	Speed    float64 // for speed
	Faults   uint64  // for faults
}

// NewSet returns an empty set whose feed requires token. Time is c's.
func NewSet(c clock.Clock, token string) *Set {
	d := &Set{clock: c}
	d.feed = newFeed(d.shows, c, token)
	return d
}

// ServeHTTP implements http.Handler: the feed.
func (d *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.feed.ServeHTTP(w, r) }

func (d *Set) shows() []*show {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*show, len(d.plays))
	for i, p := range d.plays {
		out[i] = p.show
	}
	return out
}

// Recordings lists the recordings, oldest first.
func (d *Set) Recordings() []Info { return List() }

// Start plays a recording from a minute before its start, less at a higher speed, with toss and line-ups known. Errors:
// fault.NotFound for an unknown recording, fault.Invalid for an invalid speed, fault.Conflict if there are too many
// replays.
func (d *Set) Start(r StartReplay) (Playing, error) {
	if r.Speed == 0 {
		r.Speed = 1
	}
	if err := checkSpeed(r.Speed); err != nil {
		return Playing{}, err
	}
	recorded, err := Load(r.RecordingID)
	if err != nil {
		return Playing{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.plays) >= maxPlays {
		return Playing{}, fault.New(fault.Conflict, "too_many_replays", "there are too many replays: remove one")
	}
	if d.started+1 >= maxStart {
		return Playing{}, fault.New(fault.Conflict, "no_more_replays", "%d replays were started: a new data directory has room for more", d.started)
	}
	d.started++
	now := d.clock.Wall()
	lead := time.Duration(float64(demoBefore) / r.Speed)
	state := saved{
		ID: fmt.Sprintf("%s%03d", r.RecordingID, d.started), RecordingID: r.RecordingID,
		StartedAt: now.Add(lead), Lead: lead, Speed: r.Speed, Break: r.Break, Faults: r.Faults,
	}
	p, err := newPlay(recorded, state)
	if err != nil {
		return Playing{}, err
	}
	p.continueFrom(0, p.StartedAt)
	p.build()
	d.plays = append(d.plays, p)
	return p.playing(now), d.saveChange()
}

func checkSpeed(s float64) error {
	if s >= minSpeed && s <= maxSpeed {
		return nil
	}
	return fault.New(fault.Invalid, "bad_speed", "the speed must be from %g to %d", minSpeed, maxSpeed)
}

// List returns the replays that were started and not removed, in the order of their starts.
func (d *Set) List() []Playing {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Wall()
	out := make([]Playing, 0, len(d.plays))
	for _, p := range d.plays {
		out = append(out, p.playing(now))
	}
	return out
}

// Control changes a replay. Errors: fault.NotFound for an unknown one, fault.Invalid for an invalid action,
// position or speed, fault.Conflict for an action that a stopped replay does not allow.
func (d *Set) Control(id string, c Control) (Playing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.find(id)
	if err != nil {
		return Playing{}, err
	}
	now := d.clock.Wall()
	if err := p.control(c, now); err != nil {
		return Playing{}, err
	}
	p.build()
	return p.playing(now), d.saveChange()
}

// Has reports whether a match is a replay of the set.
func (d *Set) Has(matchID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.plays, func(p *play) bool { return p.ID == matchID })
}

func (d *Set) find(id string) (*play, error) {
	i := slices.IndexFunc(d.plays, func(p *play) bool { return p.ID == id })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "no_replay", "there is no replay %s", id)
	}
	return d.plays[i], nil
}

// Remove ends and deletes a replay: the feed no longer has its match.
func (d *Set) Remove(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.find(id)
	if err != nil {
		return err
	}
	d.plays = slices.DeleteFunc(d.plays, func(other *play) bool { return other == p })
	return d.saveChange()
}

// saveChange saves a change. Called with the lock held.
func (d *Set) saveChange() error {
	if d.Keep == nil {
		return nil
	}
	raw, err := d.save()
	if err != nil {
		return err
	}
	return d.Keep(raw)
}

// savedSet is the saved form of a set.
type savedSet struct {
	Started int     `json:"started"`
	Plays   []saved `json:"plays"`
}

// Save returns the set as JSON, a few hundred bytes per replay. Running replays go on while no process has the
// set loaded, because their time is the wall clock's.
func (d *Set) Save() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.save()
}

func (d *Set) save() ([]byte, error) {
	s := savedSet{Started: d.started, Plays: []saved{}}
	for _, p := range d.plays {
		s.Plays = append(s.Plays, p.saved)
	}
	return json.Marshal(s)
}

// Load restores the set saved as raw. Recordings that no longer exist are left out. If raw did not come from
// Save, the error is fault.Damaged and the set is unchanged.
func (d *Set) Load(raw []byte) error {
	var s savedSet
	if err := json.Unmarshal(raw, &s); err != nil {
		return fault.Wrap(err, fault.Damaged, "bad_deck", "the saved replays cannot be read")
	}
	var plays []*play
	for _, state := range s.Plays {
		recorded, err := Load(state.RecordingID)
		if err != nil {
			continue
		}
		p, err := newPlay(recorded, state)
		if err != nil || checkSpeed(state.Speed) != nil || !p.sound() {
			return fault.Wrap(err, fault.Damaged, "bad_deck", "the saved replay %s cannot be read", strconv.Quote(state.ID))
		}
		p.build()
		plays = append(plays, p)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.started, d.plays = s.Started, plays
	return nil
}
