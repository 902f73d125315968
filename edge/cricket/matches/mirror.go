package matches

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"time"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// shownName is the attribute of an active-matches row with the display that its holder shows, if nodes share matches: JSON
// without its time, compressed. The display cache is local to each node, and a display cannot be built from a state alone,
// which has no names.
const shownName = "shown"

// maxShown bounds the JSON of a display: many times the usual size.
const maxShown = 64 << 10

// packShown encodes a display row's state for the attribute.
func packShown(state string) (attr.Value, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return attr.Value{}, fault.Wrap(err, fault.Internal, "shown", "the display cannot be packed")
	}
	_, err = io.WriteString(w, timeless(state))
	if err := errors.Join(err, w.Close()); err != nil {
		return attr.Value{}, fault.Wrap(err, fault.Internal, "shown", "the display cannot be packed")
	}
	return attr.B(b.Bytes()), nil
}

// unpackShown decodes the attribute into a display row's state, dated at; ok is false if it cannot.
func unpackShown(v attr.Value, at time.Time) (state string, ok bool) {
	if v.Kind() != attr.KindB {
		return "", false
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(v.Bytes())), maxShown))
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		return "", false
	}
	return string(raw) + `,"updatedAt":"` + at.UTC().Format(time.RFC3339Nano) + `"}`, true
}

// attachShown adds the display of a match to its row.
func attachShown(tx *store.Tx, matchID string, item attr.Item) error {
	row, err := tx.Get(tables.Display, attr.Item{"cacheKey": attr.S(tables.DisplayKey(matchID))})
	if err != nil || row == nil {
		return err
	}
	item[shownName], err = packShown(row["state"].Str())
	return err
}

// Mirror shows on this node the displays of matches that other nodes hold. Their rows arrive from the cloud, and
// the displays in them are copied to the display cache, where pages, streams and phones find them.
type Mirror struct {
	Node  string
	Holds func(matchID string) bool // reports whether this node has the match's lease, and so builds the display itself
}

// ConsumeRecords copies the displays of the matches whose rows arrived.
func (m *Mirror) ConsumeRecords(tx *store.Tx, records []store.Record) error {
	for i := range records {
		if r := &records[i]; r.Origin == store.OriginCloud && r.New != nil {
			if err := m.mirror(tx, r.Key["matchId"].Str()); err != nil {
				return err
			}
		}
	}
	return nil
}

// CopyAll copies the displays of all matches that have a row.
func (m *Mirror) CopyAll(tx *store.Tx) error {
	ids, err := RegisteredIDs(tx)
	for i := 0; i < len(ids) && err == nil; i++ {
		err = m.mirror(tx, ids[i])
	}
	return err
}

func (m *Mirror) mirror(tx *store.Tx, id string) error {
	if m.Holds(id) {
		return nil
	}
	st, row, err := stateRow(tx, id)
	if row == nil || st.InstanceID == m.Node {
		return err // the cache has what this node has shown
	}
	state, ok := unpackShown(row[shownName], st.LastTickAt)
	if !ok {
		return nil
	}
	return cacheState(tx, tables.DisplayKey(id), state, tx.Now().Add(outlives).Unix())
}
