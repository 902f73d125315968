package matches

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
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
	Store *store.Store
	Clock clock.Clock
	Log   *slog.Logger
	Node  string
	Holds func(matchID string) bool // reports whether this node has the match's lease, and so builds the display itself
}

const (
	mirrorBatch = 128
	mirrorRetry = time.Second
)

// Run mirrors until ctx ends, which is not an error, or the store fails permanently. It starts with all existing rows.
func (m *Mirror) Run(ctx context.Context) error {
	changed := clock.NewSignal()
	stop := m.Store.Watch(changed)
	defer stop()
	table, err := m.Store.Describe(tables.ActiveMatches)
	if err != nil {
		return err
	}
	after, whole := m.Store.Seq(), true
	for {
		var err error
		if whole {
			err = m.all(ctx)
		}
		if err == nil {
			after, whole, err = m.news(ctx, table.ID, after)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case m.Store.Err() != nil:
			return m.Store.Err()
		case err != nil:
			m.Log.Error("cannot update the displays of other nodes' matches", "err", err)
			err = clock.Sleep(ctx, m.Clock, mirrorRetry)
		case !whole:
			err = m.Clock.Wait(ctx, time.Time{}, changed)
		}
		if err != nil {
			return nil // ctx has ended
		}
	}
}

// all mirrors every match that has a row.
func (m *Mirror) all(ctx context.Context) error {
	var ids []string
	err := m.Store.View(ctx, func(tx *store.Tx) (err error) {
		ids, err = Registered(tx)
		return err
	})
	if err != nil {
		return err
	}
	return m.show(ctx, ids)
}

// news mirrors the matches whose rows arrived since after; whole reports that unread parts of the journal are gone.
func (m *Mirror) news(ctx context.Context, table string, after uint64) (came uint64, whole bool, err error) {
	for {
		page, err := m.Store.JournalOf(ctx, store.JournalQuery{TableID: table, After: after, Limit: mirrorBatch})
		if err != nil {
			return after, false, err
		}
		if page.First > after+1 {
			return page.Last, true, nil
		}
		var ids []string
		for i := range page.Records {
			if r := &page.Records[i]; r.Origin == store.OriginCloud && r.New != nil {
				ids = append(ids, r.Key["matchId"].Str())
			}
		}
		if err := m.show(ctx, ids); err != nil {
			return after, false, err
		}
		after = page.Came
		if page.Came >= page.Last {
			return after, false, nil
		}
	}
}

// show copies the displays of matches that other nodes hold.
func (m *Mirror) show(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if m.Holds(id) {
			continue
		}
		if err := m.Store.Update(ctx, func(tx *store.Tx) error { return m.mirror(tx, id) }); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mirror) mirror(tx *store.Tx, id string) error {
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
