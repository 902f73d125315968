package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// feedFixture is what the feed said last of a match.
type feedFixture struct {
	cricket.CachedFixture
	Reply json.RawMessage `json:"reply,omitempty"`
}

// getFeedFixtures lists what the feed has said of matches and is still fresh: of all, of a league (leagueId), or of one
// match (matchId), which comes with the reply itself.
func (s *Server) getFeedFixtures(c *gin.Context) error {
	p := queryParser{values: c.Request.URL.Query()}
	match, league := p.text("matchId", maxMatchID), p.text("leagueId", maxMatchID)
	if match != "" && league != "" {
		p.bad("leagueId", "cannot be combined with matchId")
	}
	if len(p.details) > 0 {
		return &invalidError{p.details}
	}
	return answerView(s, c, func(tx *store.Tx) (list[feedFixture], error) {
		found, err := cachedFixtures(tx, match, league)
		out := make([]feedFixture, 0, len(found))
		for i := range found {
			f := feedFixture{CachedFixture: found[i]}
			if match != "" && json.Valid(f.Raw) {
				f.Reply = f.Raw
			}
			out = append(out, f)
		}
		return newList(out, ""), err
	})
}

func cachedFixtures(tx *store.Tx, match, league string) ([]cricket.CachedFixture, error) {
	var cache cricket.FixtureCache
	switch {
	case match != "":
		f, found, err := cache.Get(tx, match)
		if err != nil || !found {
			return nil, err
		}
		return []cricket.CachedFixture{f}, nil
	case league != "":
		return cache.ByLeague(tx, league)
	default:
		return cache.All(tx)
	}
}

// cleared answers the clearing of caches.
type cleared struct {
	Cleared int `json:"cleared"` // replies of the feed that were forgotten
}

// postCacheClear: {matchId?}. What the feed said is forgotten, of one match or of all, and what this node has rendered.
// Displays and scorecards stay: streams and pages are made of them, and the next reading writes them anyway.
func (s *Server) postCacheClear(c *gin.Context) error {
	b, err := readBody(c)
	if err != nil {
		return err
	}
	match := b.id("matchId")
	if err := b.err(); err != nil {
		return err
	}
	var out cleared
	err = s.update(c, func(tx *store.Tx) (err error) {
		out.Cleared, err = cricket.FixtureCache{}.Clear(tx, match)
		return err
	})
	if err != nil {
		return err
	}
	s.views.clear()
	s.snapshots.clear()
	return answerWith(c, http.StatusOK, out)
}

// cacheStats is what the caches hold.
type cacheStats struct {
	Fixtures cricket.CacheStats `json:"fixtures"` // replies of the feed
	Displays rowStats           `json:"displays"` // displays and innings of the scorecard
	Views    int                `json:"views"`    // pages rendered for all who look
	Streams  int                `json:"streams"`  // snapshots that streams begin with
}

type rowStats struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
}

func (s *Server) getCacheStats(c *gin.Context) error {
	return answerView(s, c, func(tx *store.Tx) (out cacheStats, err error) {
		out.Views, out.Streams = s.views.count(), s.snapshots.count()
		if out.Fixtures, err = (cricket.FixtureCache{}).Stats(tx); err != nil {
			return out, err
		}
		for item, err := range tx.ScanAll(store.Scan{Table: cricket.TableDisplay}) {
			if err != nil {
				return out, err
			}
			out.Displays.Entries++
			out.Displays.Bytes += int64(len(item["state"].Str()))
		}
		return out, nil
	})
}

// leagueCode returns the code of the league that a filter names by its id, as the feed numbers it.
func (s *Server) leagueCode(c *gin.Context, text string) (string, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" || s.cfg.Store == nil {
		return text, nil
	}
	code := text
	err := s.view(c.Request.Context(), func(tx *store.Tx) error {
		l, err := cricket.Leagues{}.Get(tx, text)
		if err == nil && l.Code != "" {
			code = l.Code
		}
		if fault.Is(err, fault.NotFound) {
			return nil // no such league: no such matches
		}
		return err
	})
	return code, err
}
