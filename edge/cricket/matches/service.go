package matches

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Service is cricket on a store. It keeps nothing in memory: all answers come from the store.
type Service struct {
	store   *store.Store
	options cricket.Options
}

// NewService returns a Service. The tables must be defined.
func NewService(s *store.Store, o cricket.Options) *Service { return &Service{store: s, options: o} }

// MatchFilter selects fixtures. The zero value selects all.
type MatchFilter struct {
	League   string // league code
	Status   string // upcoming, live or completed
	From, To time.Time
	Limit    int // page size; 0 means 50; at most 100
	Cursor   string
}

// Matches returns a page of fixtures; next is "" on the last page.
func (s *Service) Matches(ctx context.Context, f MatchFilter) (fixtures []Fixture, next string, err error) {
	start, err := decodeCursor(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	fixtures = []Fixture{}
	err = s.store.View(ctx, func(tx *store.Tx) error {
		page, err := matchPage(tx, f, start)
		if err != nil {
			return err
		}
		next = encodeCursor(page.LastKey)
		fixtures = append(fixtures, tables.DecodeAll[Fixture](tx, tables.Fixtures, page.Items)...)
		return nil
	})
	return fixtures, next, err
}

func matchPage(tx *store.Tx, f MatchFilter, start attr.Item) (store.Page, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	limit = min(limit, 100)
	p := expr.Params{Names: map[string]string{}, Values: attr.Item{}}
	filter, err := statusFilter(f.Status, &p)
	if err != nil {
		return store.Page{}, err
	}
	span := spanOf(f, &p)
	if f.League == "" {
		return tx.Scan(store.Scan{Table: tables.Fixtures, Filter: and(filter, span), Params: p, Limit: limit, StartKey: start})
	}
	p.Values[":league"] = attr.S(f.League)
	return tx.Query(store.Query{
		Table: tables.Fixtures, Index: "leagueCode-startTime-index",
		KeyCondition: and("leagueCode = :league", span), Filter: filter, Params: p,
		Limit: limit, StartKey: start,
	})
}

// spanOf returns the condition on the start time.
func spanOf(f MatchFilter, p *expr.Params) string {
	if !f.From.IsZero() {
		p.Values[":from"] = attr.Time(f.From)
	}
	if !f.To.IsZero() {
		p.Values[":to"] = attr.Time(f.To)
	}
	switch {
	case f.From.IsZero() && f.To.IsZero():
		return ""
	case f.To.IsZero():
		return "startTime >= :from"
	case f.From.IsZero():
		return "startTime <= :to"
	default:
		return "startTime BETWEEN :from AND :to"
	}
}

func statusFilter(status string, p *expr.Params) (string, error) {
	phase := func(name string, ph cricket.Phase) { p.Values[name] = attr.S(string(ph)) }
	switch status {
	case "":
		return "", nil
	case "upcoming":
		phase(":prematch", cricket.PhasePrematch)
		phase(":postponed", cricket.PhasePostponed)
		return "phase IN (:prematch, :postponed)", nil
	case "completed":
		phase(":completed", cricket.PhaseCompleted)
		phase(":abandoned", cricket.PhaseAbandoned)
		phase(":unknown", cricket.PhaseNoNews)
		return "phase IN (:completed, :abandoned, :unknown)", nil
	case "live":
		phase(":prematch", cricket.PhasePrematch)
		phase(":postponed", cricket.PhasePostponed)
		phase(":completed", cricket.PhaseCompleted)
		phase(":abandoned", cricket.PhaseAbandoned)
		phase(":unknown", cricket.PhaseNoNews)
		return "NOT phase IN (:prematch, :postponed, :completed, :abandoned, :unknown)", nil
	default:
		return "", fault.New(fault.Invalid, "bad_status", "status must be upcoming, live or completed")
	}
}

func and(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	default:
		return a + " AND " + b
	}
}

func encodeCursor(key attr.Item) string {
	if key == nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(attr.AppendJSON(nil, key))
}

func decodeCursor(text string) (attr.Item, error) {
	if text == "" {
		return nil, nil
	}
	invalid := fault.New(fault.Invalid, "bad_cursor", "cursor was not issued by this node")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, invalid
	}
	key, err := attr.ParseJSON(raw)
	if err != nil {
		return nil, invalid
	}
	return key, nil
}

func noMatch(id string) error {
	return fault.New(fault.NotFound, "match_not_found", "there is no match %q here", id)
}

// Match returns the fixture of a match.
func (s *Service) Match(ctx context.Context, id string) (f Fixture, err error) {
	err = s.store.View(ctx, func(tx *store.Tx) (err error) {
		f, err = tables.Get[Fixture](tx, tables.Fixtures, tables.MatchKey(id), noMatch(id))
		return err
	})
	return f, err
}

// State returns a match's row in active-matches; found is false if it is not registered.
func (s *Service) State(ctx context.Context, id string) (st cricket.State, found bool, err error) {
	err = s.store.View(ctx, func(tx *store.Tx) error {
		st, found, err = readState(tx, id)
		return err
	})
	return st, found, err
}

// Live lists the fixtures of live matches in order of their start: matches in active-matches whose fixture is in
// play. It does not scan the fixtures of past years.
func (s *Service) Live(ctx context.Context) ([]Fixture, error) {
	var out []Fixture
	err := s.store.View(ctx, func(tx *store.Tx) error {
		ids, err := matchIDs(tx.ScanAll(activeRows("NOT #s = :ended", "matchId")))
		if err != nil {
			return err
		}
		found, err := Fixtures{}.Batch(tx, ids...)
		out = slices.DeleteFunc(found, func(f Fixture) bool {
			return !f.Phase.InPlay()
		})
		return err
	})
	slices.SortFunc(out, func(a, b Fixture) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), cmp.Compare(a.MatchID, b.MatchID))
	})
	return out, err
}

// Active lists the matches that are registered and have not ended.
func (s *Service) Active(ctx context.Context) ([]cricket.State, error) {
	var out []cricket.State
	err := s.store.View(ctx, func(tx *store.Tx) (err error) {
		out, err = tables.Decode[cricket.State](tx, tables.ActiveMatches, tx.ScanAll(activeRows("NOT #s = :ended", "")))
		return err
	})
	return out, err
}
