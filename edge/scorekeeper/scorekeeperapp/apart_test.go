package scorekeeperapp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// apart is two nodes that run the rules.
type apart struct {
	*nodes.Pair
	nodes []*half
	days  []string
	took  []scorekeeper.Guess // guesses that a node has accepted
	said  []string            // the steps done, to print in a failure
	wrong []string
	told  map[string][]string // by player and day: guesses reported as not counting, and those of a game that a conversion did not keep
	ended map[string][]string // the accounts to which a session was converted
	gone  map[string]bool     // partitions of deleted teams
}

// half is one of the two nodes.
type half struct {
	*scorekeeper.Service
	*nodes.Half
}

var (
	players  = []string{"ann", "bob", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "0b9d1e1c-2f5b-4c0e-9a51-6d0a3f1f7c11"}
	accounts = []string{"ann", "bob", "cat", "dan"}
	guesses  = strings.Fields("crane slate moist proud brick vexed fjord waltz joust manna")
)

// openApart opens two nodes that both know the puzzles of some days.
func openApart(t *testing.T, seed uint64, days int) *apart {
	t.Helper()
	a := &apart{told: map[string][]string{}, ended: map[string][]string{}, gone: map[string]bool{}}
	a.Pair = nodes.NewPair(t, New(), seed, a.must)
	words, err := scorekeeper.NewDictionary("")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range a.Nodes {
		service := &scorekeeper.Service{Handle: scorekeeper.Rows(a.Table), Words: words}
		n.Consumer = service.ConsumeRecords
		a.nodes = append(a.nodes, &half{service, n})
	}
	for ago := range days {
		day := time.Now().UTC().AddDate(0, 0, -ago).Format(scorekeeper.Day)
		a.days = append(a.days, day)
		_, err := change(a.nodes[0], func(tx *store.Tx) (scorekeeper.Puzzle, error) {
			return a.nodes[0].SetAnswer(tx, scorekeeper.NewAnswer{Date: day, Word: "manna"})
		})
		a.must(err)
	}
	a.Pass(time.Minute)
	return a
}

func (a *apart) must(err error) {
	if err != nil {
		a.fail("%v", err)
	}
}

func (a *apart) say(format string, args ...any) {
	a.said = append(a.said, fmt.Sprintf(format, args...))
}

func (a *apart) fail(format string, args ...any) {
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// needs fetches the rows that a request needs, as the routes do.
func (n *half) needs(needs func(tx *store.Tx) ([]attr.Item, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for known := 0; ; {
		keys, err := view(n, needs)
		if err != nil || len(keys) <= known {
			return err
		}
		known = len(keys)
		if err := n.Sync.Ensure(ctx, n.Table, keys...); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

func view[T any](n *half, do func(tx *store.Tx) (T, error)) (v T, err error) {
	err = n.Store.View(context.Background(), func(tx *store.Tx) (err error) {
		v, err = do(tx)
		return err
	})
	return v, err
}

func change[T any](n *half, do func(tx *store.Tx) (T, error)) (v T, err error) {
	err = n.Store.Update(context.Background(), func(tx *store.Tx) (err error) {
		v, err = do(tx)
		return err
	})
	return v, err
}

func (a *apart) plays(n *half, g scorekeeper.Guess) error {
	a.say("%s %s %s %s", g.User[:3], g.Date, g.Word, g.Key)
	if err := n.needs(func(*store.Tx) ([]attr.Item, error) { return n.GameNeeds(g.User, g.Date), nil }); err != nil {
		return err
	}
	_, err := change(n, func(tx *store.Tx) (scorekeeper.View, error) { return n.Guess(tx, g) })
	if err == nil {
		a.took = append(a.took, g)
	}
	return err
}

func (a *apart) converts(n *half, account, session string) error {
	a.say("%s to %s", session[:3], account)
	if err := n.needs(func(tx *store.Tx) ([]attr.Item, error) { return n.RecentNeeds(tx, session) }); err != nil {
		return err
	}
	before := map[string][]string{}
	for _, day := range a.days {
		before[day] = append(a.words(n, account, day), a.words(n, session, day)...)
	}
	out, err := change(n, func(tx *store.Tx) (scorekeeper.Conversion, error) { return n.Convert(tx, account, session) })
	for day, words := range before {
		kept := a.words(n, account, day)
		a.told[account+day] = append(a.told[account+day], slices.DeleteFunc(words, func(w string) bool { return slices.Contains(kept, w) })...)
	}
	if err == nil {
		a.say("%+v", out)
		if out.Converted+out.Conflicts > 0 && !slices.Contains(a.ended[session], account) {
			a.ended[session] = append(a.ended[session], account)
		}
	}
	return err
}

// words returns the words of a game that count, and those reported as not counting.
func (a *apart) words(n *half, user, day string) []string {
	row, err := view(n, func(tx *store.Tx) (attr.Item, error) { return tx.Get(n.Table, scorekeeper.GameKey(user, day)) })
	var g scorekeeper.Game
	a.must(cmp.Or(err, attr.Unmarshal(row, &g)))
	return slices.Concat(g.Guesses, g.Dropped)
}

func (a *apart) looks(n *half, user, day string) error {
	v, err := view(n, func(tx *store.Tx) (scorekeeper.View, error) { return n.Game(tx, user, day) })
	if err != nil || len(v.Dropped) == 0 {
		return err
	}
	a.told[user+day] = append(a.told[user+day], v.Dropped...)
	return n.Store.Update(context.Background(), func(tx *store.Tx) error { return n.RecordSeenDrops(tx, user, day, v.Dropped) })
}
