package replay

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
	"github.com/touchline/touchline/internal/fault"
)

//go:embed matches/*.gz
var recordings embed.FS

// Info describes a recorded match in a list.
type Info struct {
	ID     string `json:"id"`
	Title  string `json:"title"` // "England v New Zealand"
	Date   string `json:"date"`  // 2019-07-14
	Type   string `json:"type"`  // ODI, T20, Test/5day
	Event  string `json:"event,omitempty"`
	Venue  string `json:"venue,omitempty"`
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"` // why it is worth watching
	Balls  int    `json:"balls"`

	Gender string    `json:"-"`
	Teams  [2]string `json:"-"`
}

// Match is a recorded match with its timetable. It is immutable, so any number of feeds may share it.
type Match struct {
	rec     *recording.Match
	id      int64
	balls   []ball
	moments []Moment
	static  static
	pace    float64 // duration relative to real play; 0 is 1
}

// ball is one delivery with what is derived from the record.
type ball struct {
	d       *recording.Delivery
	id      int64
	at      time.Time
	index   int    // in the match
	innings int    // index
	over    int    // from 0
	label   string // "12.4"; repeated after a wide or no-ball
	last    bool   // of its over
}

// List returns all recorded matches, oldest first.
func List() []Info { return slices.Clone(list()) }

// list is cached, because reading all recordings takes a moment.
var list = sync.OnceValue(func() (out []Info) {
	files, err := fs.Glob(recordings, "matches/*.gz")
	for i := 0; err == nil && i < len(files); i++ {
		var rec *recording.Match
		if rec, err = read(files[i]); err == nil {
			out = append(out, info(rec))
		}
	}
	if err != nil {
		panic(err) // they are compiled in, and a test reads every one
	}
	sort.SliceStable(out, func(i, k int) bool { return out[i].Date < out[k].Date })
	return out
})

// Load loads a recorded match; fault.NotFound if there is none with that id.
func Load(id string) (*Match, error) {
	rec, err := read("matches/" + id + ".gz")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, fault.New(fault.NotFound, "match_not_recorded", "there is no recording of match %s", id)
	}
	if err != nil {
		return nil, err
	}
	return New(rec)
}

func read(name string) (*recording.Match, error) {
	packed, err := recordings.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return recording.Unpack(bytes.NewReader(packed))
}

func info(t *recording.Match) Info {
	in := Info{
		ID: t.ID, Date: t.Dates[0], Type: feedType(t), Event: t.Event.Name, Venue: t.Venue, Gender: t.Gender,
		Result: resultNote(t), Teams: [2]string{t.Teams[0].Name, t.Teams[1].Name}, Why: t.Why,
		Title: t.Teams[0].Name + " v " + t.Teams[1].Name,
	}
	for i := range t.Innings {
		for k := range t.Innings[i].Overs {
			in.Balls += len(t.Innings[i].Overs[k].Balls)
		}
	}
	return in
}

// New returns a match from a recording that is not one of ours.
func New(t *recording.Match) (*Match, error) {
	m := &Match{rec: t}
	if _, err := fmt.Sscan(t.ID, &m.id); err != nil {
		return nil, fmt.Errorf("match %s: the id is not a number: %w", t.ID, err)
	}
	if err := m.schedule(); err != nil {
		return nil, fmt.Errorf("match %s: %w", t.ID, err)
	}
	m.number()
	m.static = newStatic(t, m.moments[0].At)
	return m, nil
}

// Info describes the match.
func (m *Match) Info() Info { return info(m.rec) }

// number gives the balls their ids: rising, with gaps like those of a sequence shared by other matches, and the same at every load.
func (m *Match) number() {
	r := noise(m.id)
	id := 11_000_000 + int64(r.next()%500_000)
	for i := range m.balls {
		id += 1 + int64(r.next()%9)
		m.balls[i].id, m.balls[i].index = id, i
	}
}

// noise is a splitmix64 sequence: deterministic, and random enough for this purpose.
type noise uint64

func (n *noise) next() uint64 {
	*n += 0x9e3779b97f4a7c15
	z := uint64(*n)
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
