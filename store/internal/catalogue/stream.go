package catalogue

import (
	"cmp"
	"slices"
	"time"
)

// StreamAge is how long the records of a stream can be read, and a stream that has ended is told of.
const StreamAge = 24 * time.Hour

// LabelLayout is the label of a stream: when it began, in UTC.
const LabelLayout = "2006-01-02T15:04:05.000"

// Stream is a stretch of the journal in which a table had a stream: its records are those of the table behind After, up
// to Through.
type Stream struct {
	Label   string     `json:"label"` // unique among the streams of the tables of one name
	View    StreamView `json:"view"`
	Began   time.Time  `json:"began"`
	After   uint64     `json:"after"`
	Ended   time.Time  `json:"ended,omitzero"` // zero: it has not
	Through uint64     `json:"through,omitempty"`
}

// Open reports whether the stream goes on.
func (s Stream) Open() bool { return s.Ended.IsZero() }

func (s Stream) shown(now time.Time) bool { return s.Open() || now.Sub(s.Ended) < StreamAge }

// TableStream is a stream with its table, which may have been dropped.
type TableStream struct {
	Stream
	Table   string
	TableID string // see TableDescription.ID
	Key     KeySpec
}

// StreamsOf lists the streams of the tables of one name, from the oldest on.
func (c *Tables) StreamsOf(name string, now time.Time) (out []TableStream) {
	for _, t := range c.Streaming[c.FirstStreaming(name):] {
		if t.Spec.Name != name {
			break
		}
		for _, st := range t.ShownStreams(now) {
			out = append(out, TableStream{Stream: st, Table: name, TableID: t.UUID, Key: t.Spec.Key})
		}
	}
	slices.SortStableFunc(out, func(a, b TableStream) int { return cmp.Compare(a.Label, b.Label) })
	return out
}

// FirstStreaming is where the tables of a name, or of later ones, begin among those with streams.
func (c *Tables) FirstStreaming(name string) int {
	at, _ := slices.BinarySearchFunc(c.Streaming, name, func(t *Table, name string) int { return cmp.Compare(t.Spec.Name, name) })
	return at
}

// ShownStreams returns the streams that there is something to tell of.
func (t *Table) ShownStreams(now time.Time) []Stream {
	var out []Stream
	for _, st := range t.Streams {
		if st.shown(now) {
			out = append(out, st)
		}
	}
	return out
}

// Streamed reports whether a record lies in a stretch that some stream shows, whichever table it is about.
func (c *Tables) Streamed(seq uint64, now time.Time) bool {
	for _, t := range c.Streaming {
		for _, st := range t.Streams {
			if st.shown(now) && seq > st.After && (st.Open() || seq <= st.Through) {
				return true
			}
		}
	}
	return false
}

// Present returns the stream that goes on, nil if there is none.
func (t *Table) Present() *Stream {
	if n := len(t.Streams); n > 0 && t.Streams[n-1].Open() {
		return &t.Streams[n-1]
	}
	return nil
}

// NewLabel returns the instant, or one a little later, that no stream of the table's name has as its label.
func (c *Tables) NewLabel(t *Table, at time.Time) time.Time {
	var taken []string
	for _, other := range c.ByID {
		if other.Spec.Name != t.Spec.Name {
			continue
		}
		for _, st := range other.Streams {
			taken = append(taken, st.Label)
		}
	}
	for _, st := range t.Streams {
		taken = append(taken, st.Label)
	}
	for at = at.Truncate(time.Millisecond); slices.Contains(taken, at.Format(LabelLayout)); {
		at = at.Add(time.Millisecond)
	}
	return at
}
