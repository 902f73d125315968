package catalogue

import (
	"cmp"
	"slices"
	"time"
)

// StreamAge is how long the records of a stream can be read, and how long a stream is listed after it has ended.
const StreamAge = 24 * time.Hour

// LabelLayout is the format of a stream's label: its start, in UTC.
const LabelLayout = "2006-01-02T15:04:05.000"

// Stream is a section of the journal during which a table had a stream. Its records are those of the table after After, up to Through.
type Stream struct {
	Label   string     `json:"label"` // unique among the streams of all tables with the name
	View    StreamView `json:"view"`
	Began   time.Time  `json:"began"`
	After   uint64     `json:"after"`
	Ended   time.Time  `json:"ended,omitzero"` // zero: it is open
	Through uint64     `json:"through,omitempty"`
}

// Open reports whether the stream has not ended.
func (s Stream) Open() bool { return s.Ended.IsZero() }

func (s Stream) isListed(now time.Time) bool { return s.Open() || now.Sub(s.Ended) < StreamAge }

// TableStream is a stream and its table, which may have been dropped.
type TableStream struct {
	Stream
	Table   string
	TableID string // see TableDescription.ID
	Key     KeySpec
}

// StreamsOf returns the streams of all tables with the given name, oldest first.
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

// FirstStreaming returns the position in Streaming of the first table with the given name or a later one.
func (c *Tables) FirstStreaming(name string) int {
	at, _ := slices.BinarySearchFunc(c.Streaming, name, func(t *Table, name string) int { return cmp.Compare(t.Spec.Name, name) })
	return at
}

// ShownStreams returns the streams that are listed: open ones, and those that ended less than StreamAge ago.
func (t *Table) ShownStreams(now time.Time) []Stream {
	var out []Stream
	for _, st := range t.Streams {
		if st.isListed(now) {
			out = append(out, st)
		}
	}
	return out
}

// IsInStream reports whether a record, of whichever table, lies in the section of a stream that is listed.
func (c *Tables) IsInStream(seq uint64, now time.Time) bool {
	for _, t := range c.Streaming {
		for _, st := range t.Streams {
			if st.isListed(now) && seq > st.After && (st.Open() || seq <= st.Through) {
				return true
			}
		}
	}
	return false
}

// Present returns the open stream, or nil.
func (t *Table) Present() *Stream {
	if n := len(t.Streams); n > 0 && t.Streams[n-1].Open() {
		return &t.Streams[n-1]
	}
	return nil
}

// NewLabel returns at in whole milliseconds, or the first later one, whose label no stream of a table with this name has.
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
