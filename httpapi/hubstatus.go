package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// AppInfo is what an app asks about itself when it starts.
type AppInfo struct {
	MinVersion  string
	StoreURL    string
	Maintenance bool
}

// hubState is the operator's view of everything that is on.
type hubState struct {
	At      time.Time `json:"at"`
	Version string    `json:"version"`
	Role    string    `json:"role,omitempty"` // leader or observer of the feed
	// Problems is what a person should look at, in plain words, the worst first.
	Problems []string   `json:"problems"`
	Matches  []hubMatch `json:"matches"`
	Leagues  hubLeagues `json:"leagues"`
	Feed     FeedHealth `json:"feed"`
	Push     PushHealth `json:"push"`
	Streams  hubStreams `json:"streams"`

	// Of the page alone: GET /sync and GET /conflicts have them.
	Sync      SyncStatus `json:"-"`
	Conflicts []Conflict `json:"-"` // open ones, the newest
}

// hubLeagues counts the leagues; the matches of the active ones are read.
type hubLeagues struct {
	Known  int `json:"known"`
	Active int `json:"active"`
}

type hubStreams struct {
	Open  int `json:"open"`
	Limit int `json:"limit"`
}

// hubMatch is a row of active-matches with what hangs on it.
type hubMatch struct {
	MatchID        string         `json:"matchId"`
	Name           string         `json:"name,omitempty"` // "England v New Zealand"
	League         string         `json:"league,omitempty"`
	StartTime      time.Time      `json:"startTime,omitzero"`
	Status         string         `json:"status"` // idle, live or ended
	Phase          string         `json:"phase"`
	Owner          string         `json:"owner,omitempty"`   // the node that ticked last
	Lease          *HubLease      `json:"lease,omitempty"`   // if this node holds it
	Watched        *HubWatched    `json:"watched,omitempty"` // if this node looks at it
	LastTickAt     time.Time      `json:"lastTickAt,omitzero"`
	TickAgeSeconds float64        `json:"tickAgeSeconds"`
	Sessions       map[string]int `json:"sessions"` // by status
	Followers      int            `json:"followers"`
}

// hubFresh is how long an answer serves everybody who asks: sessions are counted by reading them.
const hubFresh = time.Second

// hubCache keeps the latest answer.
type hubCache struct {
	mu    sync.Mutex
	at    time.Time
	state hubState
}

func (s *Server) getHub(c *gin.Context) error {
	state, err := s.hubState(c.Request.Context())
	if err != nil {
		return err
	}
	return writeJSON(c, state)
}

func (s *Server) hubState(ctx context.Context) (hubState, error) {
	h := &s.hubNow
	h.mu.Lock()
	defer h.mu.Unlock()
	now := s.wall.Now()
	if !h.at.IsZero() && now.Sub(h.at) < hubFresh {
		return h.state, nil
	}
	state, err := s.readHub(ctx)
	if err == nil {
		h.at, h.state = now, state
	}
	return state, err
}

func (s *Server) readHub(ctx context.Context) (hubState, error) {
	health, node := s.cfg.Hub().whole(), s.nodeStatus()
	out := hubState{
		At: s.cfg.Clock.Now(), Version: s.cfg.Version, Role: node.Role, Feed: health.Feed, Push: health.Push,
		Streams: hubStreams{Open: s.hub.count(), Limit: s.limits.Load().streams},
	}
	err := s.view(ctx, func(tx *store.Tx) (err error) {
		if out.Matches, err = hubMatches(tx, &health, out.At); err == nil {
			out.Leagues, err = countLeagues(tx)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	order := []string{cricket.ActiveLive, cricket.ActiveIdle, cricket.ActiveEnded}
	slices.SortFunc(out.Matches, func(a, b hubMatch) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status)), cmp.Compare(a.MatchID, b.MatchID))
	})
	if err := s.readCloud(ctx, &out); err != nil {
		return out, err
	}
	out.Problems = problemsOf(&out, s.checks(ctx))
	return out, nil
}

func hubMatches(tx *store.Tx, health *HubHealth, now time.Time) ([]hubMatch, error) {
	out := []hubMatch{}
	for item, err := range tx.ScanAll(store.Scan{Table: cricket.TableActiveMatches}) {
		if err != nil {
			return nil, err
		}
		var st cricket.State
		if attr.Unmarshal(item, &st) != nil {
			continue // not as this version writes it
		}
		m, err := newHubMatch(tx, &st, now)
		if err != nil {
			return nil, err
		}
		if l, ok := health.Leases[m.MatchID]; ok {
			m.Lease = &l
		}
		if w, ok := health.Watch[m.MatchID]; ok {
			m.Watched = &w
		}
		out = append(out, m)
	}
	return out, nil
}

func countLeagues(tx *store.Tx) (n hubLeagues, err error) {
	all, err := cricket.Leagues{}.All(tx)
	n.Known = len(all)
	for i := range all {
		if all[i].Active {
			n.Active++
		}
	}
	return n, err
}

func newHubMatch(tx *store.Tx, st *cricket.State, now time.Time) (m hubMatch, err error) {
	m = hubMatch{
		MatchID: st.MatchID, Status: st.Status, Phase: string(st.MatchPhase), Owner: st.InstanceID, LastTickAt: st.LastTickAt,
		Sessions: map[string]int{},
	}
	if !st.LastTickAt.IsZero() {
		m.TickAgeSeconds = max(0, now.Sub(st.LastTickAt).Seconds())
	}
	item, err := tx.Get(cricket.TableFixtures, attr.Item{"matchId": attr.S(st.MatchID)})
	if err != nil {
		return m, err
	}
	var fx cricket.Fixture
	if item != nil && attr.Unmarshal(item, &fx) == nil {
		names := make([]string, 0, len(fx.Teams))
		for _, t := range fx.Teams {
			names = append(names, t.Name)
		}
		m.Name, m.League, m.StartTime = strings.Join(names, " v "), fx.LeagueName, fx.StartTime
	}
	q := store.Query{Table: cricket.TableLiveActivities, KeyCondition: "matchId = :m", Projection: "#s"}
	q.Names, q.Values = map[string]string{"#s": "status"}, attr.Item{":m": attr.S(st.MatchID)}
	for row, err := range tx.QueryAll(q) {
		if err != nil {
			return m, err
		}
		m.Sessions[row["status"].Str()]++
	}
	q = store.Query{Table: cricket.TableFollows, KeyCondition: "matchId = :m", Select: store.SelectCount}
	q.Values = attr.Item{":m": attr.S(st.MatchID)}
	for {
		page, err := tx.Query(q)
		if err != nil {
			return m, err
		}
		m.Followers += page.Count
		if q.StartKey = page.LastKey; q.StartKey == nil {
			return m, nil
		}
	}
}
