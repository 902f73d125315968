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
	data []byte
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
		f := frame{seq: r.Seq, slot: key, data: []byte(r.New["state"].Str())}
		if match, ok := cricket.DisplayMatch(key); ok {
			f.name = frameDisplay
			return change{match, f}, true, nil
		}
		if match, ok := cricket.CardMatch(key); ok {
			f.name = frameCard
			return change{match, f}, true, nil
		}
		return change{}, false, nil
	case cricket.TableEvents:
		var e cricket.Event
		if err := attr.Unmarshal(r.New, &e); err != nil {
			return change{}, false, fmt.Errorf("journal record %d: %w", r.Seq, err)
		}
		data, err := json.Marshal(e)
		if err != nil {
			return change{}, false, fmt.Errorf("journal record %d: %w", r.Seq, err)
		}
		return change{r.Key["matchId"].Str(), frame{name: frameEvent, seq: r.Seq, data: data}}, true, nil
	case cricket.TableFixtures:
		// A fixture alone is nothing to send, but lists of matches look at it.
		return change{match: r.Key["matchId"].Str()}, true, nil
	default:
		return change{}, false, nil
	}
}

func seqID(seq uint64) string { return strconv.FormatUint(seq, 10) }
