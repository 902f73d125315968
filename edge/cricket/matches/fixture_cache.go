package matches

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// How long a cached reply is fresh.
const (
	cacheLive = 10 * time.Second // in play
	cacheSoon = 15 * time.Minute // it starts or started within a day
	cacheFar  = 6 * time.Hour
)

// Limits of a cached reply: plain up to gzipAbove, compressed up to cacheMax. That leaves room, in an item of
// 400 KB, for the other attributes and those that replication adds.
const (
	gzipAbove = 64 << 10
	cacheMax  = 390 << 10
	rawMax    = 64 << 20 // decompressed
)

// ErrTooBig is the error for a reply that does not fit into the cache even when compressed.
var ErrTooBig = fault.New(fault.TooLarge, "reply_too_large", "the reply is too large for the fixture cache")

// CachedFixture is a row of cricket-fixture-cache: the feed's last reply for a match, without balls. No players
// are nested in its rows, as none are requested: rows have their ids, and the line-up has each of them once.
type CachedFixture struct {
	MatchID    string    `dynamodbav:"matchId" json:"id"`
	LeagueID   string    `dynamodbav:"leagueId,omitempty" json:"leagueId,omitempty"`
	StartingAt time.Time `dynamodbav:"startingAt" json:"startingAt"`
	Status     string    `dynamodbav:"status" json:"status"`
	CachedAt   time.Time `dynamodbav:"cachedAt" json:"cachedAt"`
	TTL        int64     `dynamodbav:"ttl" json:"ttl"` // epoch seconds
	Raw        []byte    `dynamodbav:"-" json:"-"`     // the reply's JSON
}

// FixtureCache caches the feed's replies for matches. The zero value is ready to use.
type FixtureCache struct{}

// NewCachedFixture returns the row of a snapshot; ok is false if the snapshot has no raw text.
func NewCachedFixture(s *cricket.Snapshot, now time.Time) (f CachedFixture, ok bool) {
	if len(s.Raw) == 0 {
		return CachedFixture{}, false
	}
	f = CachedFixture{
		MatchID: s.MatchID, StartingAt: s.StartsAt, Status: string(s.Status), CachedAt: now,
		TTL: now.Add(cacheLife(s, now)).Unix(), Raw: s.Raw,
	}
	if s.League.ID != 0 {
		f.LeagueID = strconv.FormatInt(s.League.ID, 10)
	}
	return f, true
}

// cacheLife returns how long a snapshot is fresh.
func cacheLife(s *cricket.Snapshot, now time.Time) time.Duration {
	phase, known := s.Status.Phase()
	switch {
	case known && phase != cricket.PhasePrematch && phase != cricket.PhaseCompleted && phase != cricket.PhaseAbandoned:
		return cacheLive
	case s.StartsAt.Sub(now).Abs() <= 24*time.Hour:
		return cacheSoon
	default:
		return cacheFar
	}
}

// Get returns the cached reply of a match; found is false if there is none or it is no longer fresh, even if its
// row has not been swept yet.
func (FixtureCache) Get(tx *store.Tx, matchID string) (f CachedFixture, found bool, err error) {
	item, err := tx.Get(tables.FixtureCache, tables.MatchKey(matchID))
	if err != nil {
		return CachedFixture{}, false, err
	}
	f, found = cachedFixture(item, tx.Now())
	return f, found, nil
}

// Batch returns the fresh cached replies among ids.
func (FixtureCache) Batch(tx *store.Tx, ids ...string) ([]CachedFixture, error) {
	items, err := tables.GetAll(tx, tables.FixtureCache, tables.MatchKeys(ids))
	return cachedFixtures(items, tx.Now()), err
}

// ByLeague returns the fresh replies of a league's matches in order of their start.
func (FixtureCache) ByLeague(tx *store.Tx, leagueID string) ([]CachedFixture, error) {
	now := tx.Now()
	return freshReplies(tx.QueryAll(store.Query{
		Table: tables.FixtureCache, Index: "leagueId-startingAt-index",
		KeyCondition: "leagueId = :lid", Filter: "#ttl > :now",
		Params: expr.Params{
			Names:  map[string]string{"#ttl": "ttl"},
			Values: attr.Item{":lid": attr.S(leagueID), ":now": attr.Int(now.Unix())},
		},
	}), now)
}

// All returns every fresh reply.
func (FixtureCache) All(tx *store.Tx) ([]CachedFixture, error) {
	return freshReplies(tx.ScanAll(store.Scan{Table: tables.FixtureCache}), tx.Now())
}

// freshReplies decodes rows, skipping those that are no longer fresh or unreadable.
func freshReplies(items iter.Seq2[attr.Item, error], now time.Time) (all []CachedFixture, err error) {
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		if f, ok := cachedFixture(item, now); ok {
			all = append(all, f)
		}
	}
	return all, nil
}

// Put caches a reply on behalf of the holder of the match's lease. If it does not fit, the error is ErrTooBig
// and any earlier reply is deleted. If a later holder has written, the error is a *FencedOffError.
func (FixtureCache) Put(tx *store.Tx, f *CachedFixture, by Owner) error {
	item, err := f.item()
	if errors.Is(err, ErrTooBig) {
		_, gone := tx.Delete(store.DeleteItem{
			Table: tables.FixtureCache, Key: tables.MatchKey(f.MatchID), Condition: ownFence, Params: by.fenceParams(),
		})
		if fault.Is(gone, fault.Conflict) {
			return &FencedOffError{MatchID: f.MatchID, Fence: by.Fence + 1}
		}
		return errors.Join(err, gone)
	}
	if err != nil {
		return err
	}
	item[fenceName] = attr.Int(by.Fence)
	_, err = tx.Put(store.PutItem{
		Table: tables.FixtureCache, Item: item, Condition: ownFence, NoOld: true, Params: by.fenceParams(),
	})
	if fault.Is(err, fault.Conflict) {
		return &FencedOffError{MatchID: f.MatchID, Fence: by.Fence + 1}
	}
	return err
}

// Clear empties the cache, or only matchID if it is given, and returns the number of deleted rows.
func (FixtureCache) Clear(tx *store.Tx, matchID string) (n int, err error) {
	var keys []attr.Item
	if matchID != "" {
		keys = tables.MatchKeys([]string{matchID})
	} else {
		for item, err := range tx.ScanAll(store.Scan{Table: tables.FixtureCache, Projection: "matchId"}) {
			if err != nil {
				return 0, err
			}
			keys = append(keys, item)
		}
	}
	for _, key := range keys {
		old, err := tx.Delete(store.DeleteItem{Table: tables.FixtureCache, Key: key})
		if err != nil {
			return n, err
		}
		if old != nil {
			n++
		}
	}
	return n, nil
}

// CacheStats describes the content of the cache.
type CacheStats struct {
	Entries int   `json:"entries"`
	Fresh   int   `json:"fresh"`
	Bytes   int64 `json:"bytes"` // of the replies as stored
}

// Stats counts the rows of the cache. Expired rows that the store no longer shows are not counted.
func (FixtureCache) Stats(tx *store.Tx) (s CacheStats, err error) {
	now := tx.Now()
	for item, err := range tx.ScanAll(store.Scan{Table: tables.FixtureCache}) {
		if err != nil {
			return CacheStats{}, err
		}
		s.Entries++
		if ttl, ok := item["ttl"].Int(); ok && ttl > now.Unix() {
			s.Fresh++
		}
		s.Bytes += int64(len(item["raw"].Str()) + len(item["raw"].Bytes()))
	}
	return s, nil
}

// item returns the row, with a long reply compressed.
func (f *CachedFixture) item() (attr.Item, error) {
	item, err := attr.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(f.Raw) <= gzipAbove {
		item["raw"] = attr.S(string(f.Raw))
		return item, nil
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(f.Raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() > cacheMax {
		return nil, ErrTooBig
	}
	item["raw"] = attr.B(b.Bytes())
	return item, nil
}

// cachedFixture decodes a row; ok is false if it is absent, no longer fresh or unreadable.
func cachedFixture(item attr.Item, now time.Time) (f CachedFixture, ok bool) {
	if item == nil || attr.Unmarshal(item, &f) != nil || f.TTL <= now.Unix() {
		return CachedFixture{}, false
	}
	raw := item["raw"]
	if raw.Kind() != attr.KindB {
		f.Raw = []byte(raw.Str())
		return f, len(f.Raw) > 0
	}
	r, err := gzip.NewReader(bytes.NewReader(raw.Bytes()))
	if err != nil {
		return CachedFixture{}, false
	}
	f.Raw, err = io.ReadAll(io.LimitReader(r, rawMax))
	return f, err == nil
}

func cachedFixtures(items []attr.Item, now time.Time) (all []CachedFixture) {
	for _, item := range items {
		if f, ok := cachedFixture(item, now); ok {
			all = append(all, f)
		}
	}
	return all
}
