package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	httppage "github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// cricketState is cricket's state for operators.
type cricketState struct {
	At      time.Time    `json:"-"`
	Role    string       `json:"role,omitempty"` // leader or observer of the feed
	Matches []matchState `json:"matches"`
	Leagues leagueCounts `json:"leagues"`
	Feed    feedHealth   `json:"feed"`
	Push    pushHealth   `json:"push"`
}

// operatorAnswer is the answer of GET /hub: the node's state including cricket's.
type operatorAnswer struct {
	At       time.Time `json:"at"`
	Version  string    `json:"version"`
	Problems []string  `json:"problems"`
	cricketState
	Streams operator.Streams `json:"streams"`
}

// leagueCounts counts the leagues; matches of active ones are polled.
type leagueCounts struct {
	Known  int `json:"known"`
	Active int `json:"active"`
}

// matchState is a row of active-matches with related data.
type matchState struct {
	MatchID        string         `json:"matchId"`
	Name           string         `json:"name,omitempty"` // "England v New Zealand"
	League         string         `json:"league,omitempty"`
	StartTime      time.Time      `json:"startTime,omitzero"`
	Status         string         `json:"status"` // idle, live or ended
	Phase          string         `json:"phase"`
	Owner          string         `json:"owner,omitempty"`   // the node that last ticked it
	Lease          *matchLease    `json:"lease,omitempty"`   // if this node holds it
	Watched        *poll.Held     `json:"watched,omitempty"` // if this node watches it
	LastTickAt     time.Time      `json:"lastTickAt,omitzero"`
	TickAgeSeconds float64        `json:"tickAgeSeconds"`
	Sessions       map[string]int `json:"sessions"` // by status
	Missing        int            `json:"missing"`  // cards that phones do not show although Apple accepted their starts
	Followers      int            `json:"followers"`
}

// matchLease is this node's lease of a match.
type matchLease struct {
	Fence    int64     `json:"fence"`
	Deadline time.Time `json:"deadline"`
}

// getHub returns the node's state with cricket's.
func (h *handlers) getHub(r *httpapi.Request) (httpapi.Response, error) {
	node, err := r.NodeState()
	if err != nil {
		return httpapi.Response{}, err
	}
	own, ok := node.Apps[name].(cricketState)
	if !ok { // it could not be read: the error says why
		own, err = h.operatorState(r.Context(), node.At)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplyTagged(operatorAnswer{
		At: node.At, Version: node.Version, Problems: node.Problems, cricketState: own, Streams: node.Streams,
	})
}

// operator returns cricket's part of the operator page.
func (h *handlers) operator(ctx context.Context, now time.Time) (operator.Part, error) {
	st, err := h.operatorState(ctx, now)
	if err != nil {
		return operator.Part{}, err
	}
	return operator.Part{Problems: problemsOf(&st), Tables: []httppage.Table{
		matchTable(st.Matches, st.At), feedTable(&st), jobTable(&st), pushTable(&st.Push), oddTable(st.Feed.Oddities), readingTable(&st),
	}, Status: st}, nil
}

func (h *handlers) operatorState(ctx context.Context, now time.Time) (cricketState, error) {
	feed := h.Feed()
	out := cricketState{At: now, Role: h.nodeStatus(&operator.NodeStatus{}).Role, Feed: newFeedHealth(feed), Push: newPushHealth(h.Push())}
	err := h.Store.View(ctx, func(tx *store.Tx) (err error) {
		if out.Matches, err = matchStates(tx, &out.Feed.Status, now); err == nil {
			out.Leagues, err = countLeagues(tx)
		}
		return err
	})
	order := []string{cricket.ActiveLive, cricket.ActiveIdle, cricket.ActivePostponed, cricket.ActiveEnded}
	slices.SortFunc(out.Matches, func(a, b matchState) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status)), cmp.Compare(a.MatchID, b.MatchID))
	})
	return out, err
}

func matchStates(tx *store.Tx, feed *poll.Status, now time.Time) ([]matchState, error) {
	out := []matchState{}
	for item, err := range tx.ScanAll(store.Scan{Table: tables.ActiveMatches}) {
		if err != nil {
			return nil, err
		}
		var st cricket.State
		if attr.Unmarshal(item, &st) != nil {
			continue // an unknown format
		}
		m, err := newMatchState(tx, &st, now)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(feed.Matches, func(h poll.Held) bool { return h.MatchID == m.MatchID }); i >= 0 {
			m.Watched = &feed.Matches[i]
			if since := m.Watched.SilentSince; !since.IsZero() { // whatever the clock of the node that wrote the row shows
				m.TickAgeSeconds = max(0, now.Sub(since).Seconds())
			}
			if m.Watched.Fence != 0 {
				m.Lease = &matchLease{m.Watched.Fence, m.Watched.Deadline}
			}
		}
		out = append(out, m)
	}
	return out, nil
}

func countLeagues(tx *store.Tx) (n leagueCounts, err error) {
	all, err := reference.Leagues{}.All(tx)
	n.Known = len(all)
	for i := range all {
		if all[i].Active {
			n.Active++
		}
	}
	return n, err
}

func newMatchState(tx *store.Tx, st *cricket.State, now time.Time) (m matchState, err error) {
	m = matchState{
		MatchID: st.MatchID, Status: st.Status, Phase: string(st.MatchPhase), Owner: st.InstanceID, LastTickAt: st.LastTickAt,
		Sessions: map[string]int{},
	}
	if !st.LastTickAt.IsZero() {
		m.TickAgeSeconds = max(0, now.Sub(st.LastTickAt).Seconds())
	}
	item, err := tx.Get(tables.Fixtures, attr.Item{"matchId": attr.S(st.MatchID)})
	if err != nil {
		return m, err
	}
	var fx matches.Fixture
	if item != nil && attr.Unmarshal(item, &fx) == nil {
		m.Name, m.League, m.StartTime = teamNames(&fx), fx.LeagueName, fx.StartTime
	}
	q := store.Query{Table: tables.LiveActivities, KeyCondition: "matchId = :m", Projection: "#s, noCard"}
	q.Names, q.Values = map[string]string{"#s": "status"}, attr.Item{":m": attr.S(st.MatchID)}
	for row, err := range tx.QueryAll(q) {
		if err != nil {
			return m, err
		}
		status := row["status"].Str()
		m.Sessions[status]++
		waits := status == string(phone.SessionPending) || status == string(phone.SessionSuspended)
		if waits && row["noCard"].Str() == string(phone.NoCardMissing) {
			m.Missing++
		}
	}
	q = store.Query{Table: tables.Follows, KeyCondition: "matchId = :m", Select: store.SelectCount}
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
