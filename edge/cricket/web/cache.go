package web

import (
	"encoding/json"
	"net/http"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
)

// feedFixture is the feed's last reply for a match.
type feedFixture struct {
	matches.CachedFixture
	Reply json.RawMessage `json:"reply,omitempty"`
}

// listFeedFixtures lists the fresh cached replies: all, those of a league (leagueId), or of one match (matchId),
// which includes the reply itself.
func (h *handlers) listFeedFixtures(r *httpapi.Request) (httpapi.Response, error) {
	match, league := r.Query.Text("matchId", maxMatchID), r.Query.Text("leagueId", maxMatchID)
	if match != "" && league != "" {
		r.Query.Bad("leagueId", "cannot be combined with matchId")
	}
	return r.Read(func(tx *store.Tx) (any, error) {
		found, err := cachedFixtures(tx, match, league)
		out := make([]feedFixture, 0, len(found))
		for i := range found {
			f := feedFixture{CachedFixture: found[i]}
			if match != "" && json.Valid(f.Raw) {
				f.Reply = f.Raw
			}
			out = append(out, f)
		}
		return httpapi.NewList(out, ""), err
	})
}

func cachedFixtures(tx *store.Tx, match, league string) ([]matches.CachedFixture, error) {
	var cache matches.FixtureCache
	switch {
	case match != "":
		f, found, err := cache.Get(tx, match)
		if err != nil || !found {
			return nil, err
		}
		return []matches.CachedFixture{f}, nil
	case league != "":
		return cache.ByLeague(tx, league)
	default:
		return cache.All(tx)
	}
}

// cleared is the answer to clearing the caches.
type cleared struct {
	Cleared int `json:"cleared"` // deleted replies of the feed
}

// clearCache takes {matchId?}. It deletes cached replies of one match or of all, and what this node has rendered.
// Displays and scorecards stay: streams and pages are made from them, and the next poll rewrites them anyway.
func (h *handlers) clearCache(r *httpapi.Request) (httpapi.Response, error) {
	match := readMatch(r.Body(), "matchId")
	response, err := r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		n, err := matches.FixtureCache{}.Clear(tx, match)
		return cleared{n}, err
	})
	if err == nil {
		r.ClearCache()
	}
	return response, err
}

// cacheStats describes the content of the caches.
type cacheStats struct {
	Fixtures matches.CacheStats `json:"fixtures"` // replies of the feed
	Displays rowStats           `json:"displays"` // displays, and innings of scorecards
	Views    int                `json:"views"`    // rendered pages
	Streams  int                `json:"streams"`  // snapshots for new streams
}

type rowStats struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
}

func (h *handlers) getCacheStats(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		var out cacheStats
		var err error
		out.Views, out.Streams = r.CachedCounts()
		if out.Fixtures, err = (matches.FixtureCache{}).Stats(tx); err != nil {
			return out, err
		}
		for item, err := range tx.ScanAll(store.Scan{Table: tables.Display}) {
			if err != nil {
				return out, err
			}
			out.Displays.Entries++
			out.Displays.Bytes += int64(len(item["state"].Str()))
		}
		return out, nil
	})
}
