package store

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// StreamAge is how long the records of a stream can be read, and a stream that has ended is told of.
const StreamAge = 24 * time.Hour

// labelLayout is the label of a stream: when it began, in UTC.
const labelLayout = "2006-01-02T15:04:05.000"

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

// Streams lists the streams of all tables, by the tables' names: those that go on, and those that ended less than StreamAge ago,
// also because their table was dropped.
func (s *Store) Streams() []TableStream {
	streams, _ := s.StreamsBehind("", "", math.MaxInt)
	return streams
}

// StreamsBehind lists up to limit streams behind that of a table with a label, by the tables' names and then by age, and reports
// whether there are more. It takes as long as the streams that it returns.
func (s *Store) StreamsBehind(table, label string, limit int) (streams []TableStream, more bool) {
	c, now := s.cat.Load(), s.opts.Now()
	for i := c.firstStreaming(table); i < len(c.streaming); {
		name := c.streaming[i].spec.Name
		for _, st := range c.streamsOf(name, now) {
			switch {
			case name == table && st.Label <= label:
			case len(streams) == limit:
				return streams, true
			default:
				streams = append(streams, st)
			}
		}
		for i < len(c.streaming) && c.streaming[i].spec.Name == name {
			i++
		}
	}
	return streams, false
}

// StreamsOf is Streams for the tables of one name, which was used again if there are several, from the oldest stream on.
func (s *Store) StreamsOf(table string) []TableStream {
	return s.cat.Load().streamsOf(table, s.opts.Now())
}

// StreamsOf is Store.StreamsOf within a transaction: JournalOf of the same one shows no record that is younger. An error
// means that the transaction has ended.
func (tx *Tx) StreamsOf(table string) ([]TableStream, error) {
	if err := tx.enter(); err != nil {
		return nil, err
	}
	defer tx.leave()
	return tx.cat.streamsOf(table, tx.Now()), nil
}

func (c *catalogue) streamsOf(name string, now time.Time) (out []TableStream) {
	for _, t := range c.streaming[c.firstStreaming(name):] {
		if t.spec.Name != name {
			break
		}
		for _, st := range t.shownStreams(now) {
			out = append(out, TableStream{Stream: st, Table: name, TableID: t.uuid, Key: t.spec.Key})
		}
	}
	slices.SortStableFunc(out, func(a, b TableStream) int { return cmp.Compare(a.Label, b.Label) })
	return out
}

// firstStreaming is where the tables of a name, or of later ones, begin among those with streams.
func (c *catalogue) firstStreaming(name string) int {
	at, _ := slices.BinarySearchFunc(c.streaming, name, func(t *table, name string) int { return cmp.Compare(t.spec.Name, name) })
	return at
}

// shownStreams returns the streams that there is something to tell of.
func (t *table) shownStreams(now time.Time) []Stream {
	var out []Stream
	for _, st := range t.streams {
		if st.shown(now) {
			out = append(out, st)
		}
	}
	return out
}

// streamed reports whether a record lies in a stretch that some stream shows, whichever table it is about.
func (c *catalogue) streamed(seq uint64, now time.Time) bool {
	for _, t := range c.streaming {
		for _, st := range t.streams {
			if st.shown(now) && seq > st.After && (st.Open() || seq <= st.Through) {
				return true
			}
		}
	}
	return false
}

// present returns the stream that goes on, nil if there is none.
func (t *table) present() *Stream {
	if n := len(t.streams); n > 0 && t.streams[n-1].Open() {
		return &t.streams[n-1]
	}
	return nil
}

// setStream begins and ends streams of a table that is being changed, by its settings. A stream shows one view from its
// begin to its end.
func (tx *Tx) setStream(t *table) {
	t.streams = t.shownStreams(tx.Now()) // and forgets the others
	want := t.settings.Stream
	if t.dropped {
		want = ""
	}
	last := tx.journalState().last
	if st := t.present(); st != nil {
		if st.View == want {
			return
		}
		st.Ended, st.Through = plainTime(tx.Now()), last
	}
	if want == "" {
		return
	}
	if t.uuid == "" {
		t.uuid = newUUID()
	}
	began := tx.cat.newLabel(t, plainTime(tx.Now()))
	t.streams = append(t.streams, Stream{
		Label: began.Format(labelLayout), View: want, Began: began, After: last,
	})
}

// newLabel returns the instant, or one a little later, that no stream of the table's name has as its label.
func (c *catalogue) newLabel(t *table, at time.Time) time.Time {
	var taken []string
	for _, other := range c.byID {
		if other.spec.Name != t.spec.Name {
			continue
		}
		for _, st := range other.streams {
			taken = append(taken, st.Label)
		}
	}
	for _, st := range t.streams {
		taken = append(taken, st.Label)
	}
	for at = at.Truncate(time.Millisecond); slices.Contains(taken, at.Format(labelLayout)); {
		at = at.Add(time.Millisecond)
	}
	return at
}
