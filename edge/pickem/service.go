package pickem

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/table"
)

// Service implements the league on a table. It is safe for concurrent use.
type Service struct {
	table.Handle
	Index string
	Store *store.Store
	// Confirmed returns the last known state of a row in the cloud. It is nil if the node has no cloud.
	Confirmed func(tx *store.Tx, table string, key attr.Item) (attr.Item, error)
	// Skew returns by how much the cloud's clock is ahead of this machine's. It is nil if that is not measured.
	Skew func() time.Duration
	// Latest returns the number of the read of the cloud that began last. It is nil if the node has no cloud.
	Latest func() uint64
	// Await waits until sources were read whole, or returns why not. It is nil if the node has no cloud.
	Await func(ctx context.Context, within time.Duration, sources func(tx *store.Tx) ([]derived.Source, error)) error
	// Wake makes Run look for due events at once. It may be nil: Run looks at least once a minute.
	Wake *clock.Signal

	scoring sync.Mutex // one scoring at a time: its rows are counted by who began it
	rules   sync.Once
	points  *derived.Rule // of predictions, by event
	tables  *derived.Rule // standings, by year
	locks   sync.Map      // by event: Latest when its lock was first known to be in the cloud
}

// Ahead returns by how much the cloud's clock, by which events lock, is ahead of this machine's, or 0 if that is not known.
func (s *Service) Ahead() time.Duration {
	if s.Skew == nil {
		return 0
	}
	return s.Skew()
}

// now is the time by which events lock.
func (s *Service) now(tx *store.Tx) time.Time { return tx.Now().Add(s.Ahead()) }

// Card is an event with its matches in order, and with the predictions that the reader may see.
type Card struct {
	Event
	Matches     []Match      `json:"matches"`
	Mine        *Prediction  `json:"prediction"`
	Dropped     []string     `json:"dropped,omitempty"`    // matches whose teams have changed since the reader picked
	NotCounted  bool         `json:"notCounted,omitempty"` // a pick of the reader's was not counted: see Merge
	Predictions []Prediction `json:"predictions,omitempty"`

	all    []Prediction
	unread []unread // rows of the event that cannot be decoded
}

// unread is a row that cannot be decoded, and why.
type unread struct {
	row attr.Item
	why error
}

// unreadRow returns why a row of the event cannot be decoded; nil: it can be, or there is none.
func (c *Card) unreadRow(key attr.Item) error {
	for _, u := range c.unread {
		if u.row["PK"].Equal(key["PK"]) && u.row["SK"].Equal(key["SK"]) {
			return u.why
		}
	}
	return nil
}

func (c *Card) match(id string) *Match {
	if i := slices.IndexFunc(c.Matches, func(m Match) bool { return m.ID == id }); i >= 0 {
		return &c.Matches[i]
	}
	return nil
}

const (
	everybody = "" // for load: read the predictions of all users
	nobody    = "" // for entry: read as an admin, who has no picks
)

// load reads an event in one query of the index, with the predictions of one user, or of everybody, best first.
func (p *plan) load(event, user string) Card {
	q := p.indexQuery(prefixEvent + event)
	if user != everybody {
		q.Filter = "attribute_not_exists(belongsto) OR belongsto = :user"
		q.Values[":user"] = attr.S(prefixUser + user)
	}
	return p.card(event, q)
}

// entry reads an event with the picks of one user. It does not read others' picks, so its cost does not depend on their number.
func (p *plan) entry(event, user string) Card {
	q := p.indexQuery(prefixEvent + event)
	q.KeyCondition += " AND GSI_SK < :scores"
	q.Values[":scores"] = attr.S(prefixScore)
	c := p.card(event, q)
	if row := p.Get(predictionKey(user, event)); row != nil {
		mine, err := predictionOf(row, event)
		if err != nil {
			p.Skip(row, err)
			c.unread = append(c.unread, unread{row, err})
		} else {
			mine.Name = p.name(user)
			c.Mine = &mine
		}
	}
	c.listDropped()
	return c
}

// card reads the rows of an event. Matches and predictions that cannot be decoded are skipped, and listed in unread.
func (p *plan) card(event string, q store.Query) (c Card) {
	c.Event, c.Matches = p.event(event), []Match{}
	if c.ID == "" { // the row is missing here, and may be in the cloud
		p.Fail(fault.New(fault.NotFound, "not_found", "There is no such event."))
	}
	for it := range p.Rows(p.Tx.QueryAll(q)) {
		var err error
		switch pk, sk := it["PK"].Str(), it["SK"].Str(); {
		case strings.HasPrefix(pk, prefixUser):
			var one Prediction
			if one, err = predictionOf(it, event); err == nil {
				c.all = append(c.all, one)
			}
		case strings.HasPrefix(sk, prefixMatch):
			var m Match
			if m, err = matchOf(it, event); err == nil {
				c.Matches = append(c.Matches, m)
			}
		}
		if err != nil {
			p.Skip(it, err)
			c.unread = append(c.unread, unread{it, err})
		}
	}
	slices.Reverse(c.Matches)
	slices.SortStableFunc(c.Matches, func(x, y Match) int { return cmp.Compare(len(x.Place), len(y.Place)) }) // MATCH#100 comes after MATCH#99
	return c
}

// Event returns an event for a user or, if user is empty, for an admin. All predictions are included once the cloud has confirmed the lock.
func (s *Service) Event(tx *store.Tx, id, user string) (Card, error) {
	p := s.plan(tx)
	open, reader := p.open(id), user
	if open {
		reader = everybody
	}
	c := p.load(id, reader)
	for i := range c.all {
		one := &c.all[i]
		one.Name = p.name(one.User)
		if c.State == Broadcast { // not scored yet: show the points by the results so far
			one.Points, one.Correct = c.points(one.Picks)
		}
		if one.User == user {
			c.Mine = new(*one)
		}
	}
	c.listDropped()
	if open {
		rank(c.all, (*Prediction).asPlaced)
		c.Predictions = c.all
	}
	c.NotCounted = len(p.Get(lateKey(user, id))["picks"].Strs()) > 0
	return c, p.Err()
}

// listDropped lists in Dropped the matches whose teams have changed since the reader picked.
func (c *Card) listDropped() {
	for i := range c.Matches {
		if m := &c.Matches[i]; !c.Mine.has(m.ID) && slices.ContainsFunc(m.Was, c.Mine.has) {
			c.Dropped = append(c.Dropped, m.Name)
		}
	}
}

// open reports whether everybody may see all predictions for an event: it must be locked here and in the cloud. A node that was cut off and has
// locked by itself does not know whether the other nodes have.
func (p *plan) open(event string) bool {
	it := p.Get(eventKey(event))
	if p.Confirmed != nil && isLocked(it) {
		var err error
		it, err = p.Confirmed(p.Tx, p.Table, eventKey(event))
		p.Fail(err)
	}
	return isLocked(it)
}

// Listed is an event in a list, with how many of its matches the reader has picked.
type Listed struct {
	Event
	Picked string `json:"picked"` // "3 of 11"
}

func (p *Placed) asPlaced() *Placed { return p }

// rank sorts rows by points, most first, and sets their ranks. Equal points share a rank: 1, 1, 3.
func rank[T any](rows []T, placed func(*T) *Placed) {
	slices.SortFunc(rows, func(x, y T) int {
		a, b := placed(&x), placed(&y)
		return cmp.Or(cmp.Compare(b.Points, a.Points), strings.Compare(a.Name, b.Name), strings.Compare(a.User, b.User))
	})
	for i := range rows {
		p := placed(&rows[i])
		p.Rank = i + 1
		if i > 0 && placed(&rows[i-1]).Points == p.Points {
			p.Rank = placed(&rows[i-1]).Rank
		}
	}
}
