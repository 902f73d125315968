package httpapi

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// frame is one server-sent event.
type frame struct {
	name string
	seq  uint64 // of the journal; 0: the frame has no id
	slot string // frames of one slot replace each other; empty: each one counts
	data []byte // JSON
	wire *wire  // as it goes out
}

// newFrame makes an event of data.
func newFrame(name string, seq uint64, data []byte) frame {
	return frame{name: name, seq: seq, data: data, wire: newWire(name, seq, data)}
}

// wide is the frame for readers of all matches: {"matchId":"7","display":{...}}.
func (ch *change) wide() frame {
	id, err := json.Marshal(ch.match)
	if err != nil {
		panic(err) // a string
	}
	f := ch.frame
	w := newFrame(f.name, f.seq, fmt.Appendf(nil, `{"matchId":%s,%q:%s}`, id, f.name, f.data))
	w.slot = f.slot
	return w
}

// The names of the events that a match's stream carries.
const (
	frameDisplay = "display"
	frameEvent   = "event"
	frameCard    = "card"
)

// change is what a journal record means to the streams.
type change struct {
	match string
	frame frame
}

// changeOf reads a record; ok is false for one that concerns no reader. Display and card lie in the journal as the
// JSON that goes out.
func changeOf(r *store.Record) (ch change, ok bool, err error) {
	if r.New == nil {
		return change{}, false, nil // swept: the match is long over
	}
	switch r.Table {
	case cricket.TableDisplay:
		key := r.Key["cacheKey"].Str()
		name := frameDisplay
		match, ok := cricket.DisplayMatch(key)
		if !ok {
			name = frameCard
			match, ok = cricket.CardMatch(key)
		}
		if !ok {
			return change{}, false, nil
		}
		f := newFrame(name, r.Seq, []byte(r.New["state"].Str()))
		f.slot = key
		return change{match, f}, true, nil
	case cricket.TableEvents:
		var e cricket.Event
		if err := attr.Unmarshal(r.New, &e); err != nil {
			return change{}, false, fmt.Errorf("journal record %d: %w", r.Seq, err)
		}
		data, err := json.Marshal(e)
		if err != nil {
			return change{}, false, fmt.Errorf("journal record %d: %w", r.Seq, err)
		}
		return change{r.Key["matchId"].Str(), newFrame(frameEvent, r.Seq, data)}, true, nil
	case cricket.TableFixtures:
		// A fixture alone is nothing to send, but lists of matches look at it.
		return change{match: r.Key["matchId"].Str()}, true, nil
	default:
		return change{}, false, nil
	}
}

func seqID(seq uint64) string { return strconv.FormatUint(seq, 10) }
