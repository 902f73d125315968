package store

import (
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

// Open tells whether the stream goes on.
func (s Stream) Open() bool { return s.Ended.IsZero() }

func (s Stream) shown(now time.Time) bool { return s.Open() || now.Sub(s.Ended) < StreamAge }

// TableStream is a stream with its table, which may have been dropped.
type TableStream struct {
	Stream
	Table   string
	TableID string // see TableDescription.ID
	Key     KeySpec
}

// Streams lists the streams of all tables, from the oldest table and stream on: those that go on, and those that ended
// less than StreamAge ago, also because their table was dropped.
func (s *Store) Streams() []TableStream { return s.cat.Load().shownStreams(s.opts.Now()) }

// Streams is Store.Streams within a transaction: JournalOf of the same one shows no record that is younger. An error
// means that the transaction has ended.
func (tx *Tx) Streams() ([]TableStream, error) {
	if err := tx.enter(); err != nil {
		return nil, err
	}
	defer tx.leave()
	return tx.cat.shownStreams(tx.Now()), nil
}

func (c *catalogue) shownStreams(now time.Time) []TableStream {
	var out []TableStream
	for _, id := range c.ids() {
		t := c.byID[id]
		for _, st := range t.shownStreams(now) {
			out = append(out, TableStream{Stream: st, Table: t.spec.Name, TableID: t.uuid, Key: t.spec.Key})
		}
	}
	return out
}

// shownStreams gives the streams that there is something to tell of.
func (t *table) shownStreams(now time.Time) []Stream {
	var out []Stream
	for _, st := range t.streams {
		if st.shown(now) {
			out = append(out, st)
		}
	}
	return out
}

// streamed tells whether a record lies in a stretch that some stream shows, whichever table it is about.
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

// present gives the stream that goes on, nil if there is none.
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

// newLabel gives the instant, or one a little later, that no stream of the table's name has as its label.
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
