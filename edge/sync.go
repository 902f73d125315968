package edge

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
)

// Cloud is the way to a node's cloud.
type Cloud struct {
	Config CloudConfig
	Name   string // for people: a region, or an address
	Items  replica.Cloud
	Locks  lease.Table
	Close  func() // of connections, when the node has ended; nil: there is nothing to close
}

// open makes the way to the cloud of a configuration; nil: there is none. It asks nobody.
func (c *CloudConfig) open(ctx context.Context, log *slog.Logger) (*Cloud, error) {
	if !c.configured() {
		return nil, nil //nolint:nilnil // a node need not have a cloud
	}
	client, err := dynamo.New(ctx, dynamo.Config{
		Endpoint: c.Endpoint, Region: c.Region, Profile: c.Profile, Prefix: c.Prefix, Deadline: c.Deadline, Log: log,
	})
	if err != nil {
		return nil, err
	}
	return &Cloud{
		Config: *c, Name: c.name(client), Items: client, Locks: client.Locks(cricket.TableLocks), Close: client.Reset,
	}, nil
}

// openCloud puts the replicator before the store, whose first write is still to come.
func (n *Node) openCloud(ctx context.Context) error {
	c := n.parts.Cloud
	if c == nil {
		return nil
	}
	dir := ""
	if path := n.store.Path(); path != "" { // a store in memory has no place for a file beside it
		dir = filepath.Dir(path)
	}
	r, err := replica.New(replica.Config{
		Store: n.store, Cloud: c.Items, Dir: dir, Clock: n.parts.Clock, Log: n.parts.Log,
		SyncTable: c.Config.SyncTable, LockTable: cricket.TableLocks, Poll: n.pollRules(&c.Config.Poll),
		Transactions: c.Config.transactions(), Budget: c.Config.Budget.budget(), Deadline: c.Config.Deadline,
		Deposed: n.deposed, Merge: merges(),
	})
	if err != nil {
		return err
	}
	if err := r.Open(ctx); err != nil {
		return err
	}
	n.sync = r
	return nil
}

// deposed raises the fence of a lock that this node holds above one that has refused a write under it. The match is
// written anew by its next tick.
func (n *Node) deposed(ctx context.Context, lock string, fence int64) (raised int64, err error) {
	return n.leases.Raise(ctx, lock, fence) // there before the replicator runs
}

// pollRules is what the node reads of what others write: small tables in whole, and what belongs to the matches whose
// lease it holds.
func (n *Node) pollRules(every *CloudPollConfig) []replica.PollRule {
	whole := func(table string) replica.PollRule { return replica.PollRule{Table: table, Every: every.Tables} }
	live := func(table string, of func(*store.Tx) ([]attr.Value, error)) replica.PollRule {
		return replica.PollRule{Table: table, Every: every.Live, Partitions: of}
	}
	return []replica.PollRule{
		whole(cricket.TableLeagues), whole(cricket.TableTeams), whole(cricket.TableActiveMatches),
		{Table: cricket.TableFixtures, Every: every.Tables, Partitions: knownMatches},
		{Table: cricket.TableFixtures, Every: fixturesEvery}, // those that one node reads for all
		live(cricket.TableFollows, n.heldMatches), live(cricket.TableLiveActivities, n.heldMatches), live(cricket.TableEvents, n.heldMatches),
		live(cricket.TableDevices, n.followers),
	}
}

// fixturesEvery is how often all fixtures are read: they are many, and those that change soon are read by themselves.
const fixturesEvery = 15 * time.Minute

// knownMatches are the matches that some node looks after.
func knownMatches(tx *store.Tx) (ids []attr.Value, err error) {
	for row, err := range tx.ScanAll(store.Scan{Table: cricket.TableActiveMatches, Projection: "matchId"}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, row["matchId"])
	}
	return ids, nil
}

// heldMatches are the matches whose lease this node holds.
func (n *Node) heldMatches(*store.Tx) (ids []attr.Value, err error) {
	if n.leases == nil {
		return nil, nil // the node is not put together yet
	}
	for _, l := range n.leases.Held() {
		if id, ok := strings.CutPrefix(l.Key, cricket.MatchLock("")); ok {
			ids = append(ids, attr.S(id))
		}
	}
	return ids, nil
}

// followers are the users who follow them: whose devices are told.
func (n *Node) followers(tx *store.Tx) (users []attr.Value, err error) {
	matches, err := n.heldMatches(tx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, match := range matches {
		q := store.Query{Table: cricket.TableFollows, KeyCondition: "matchId = :m", Projection: "userId"}
		q.Values = attr.Item{":m": match}
		for row, err := range tx.QueryAll(q) {
			if err != nil {
				return nil, err
			}
			if user := row["userId"].Str(); !seen[user] {
				seen[user] = true
				users = append(users, attr.S(user))
			}
		}
	}
	return users, nil
}

const (
	drainFor  = 3 * time.Second // at the end: what waits goes as far as it does
	drainLook = 20 * time.Millisecond
)

// drain gives what waits a moment to leave, while the cloud is there.
func (n *Node) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	for {
		st, err := n.sync.Status(ctx)
		if err != nil || !st.Link.Up || st.Waiting == 0 {
			return
		}
		if drained, err := n.sync.Drained(ctx); err != nil || drained {
			return // what is quarantined waits for a person
		}
		if clock.Sleep(ctx, n.wall, drainLook) != nil {
			n.parts.Log.Info("writes wait for the cloud; they are sent when the node runs again", "waiting", st.Waiting)
			return
		}
	}
}

// runCloud sends and receives until the returned function is called, which lets what waits go first.
func (n *Node) runCloud(ctx context.Context, fail context.CancelCauseFunc) (end func()) {
	if n.sync == nil {
		return func() {}
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	leave := n.parts.Clock.Join()
	go func() {
		defer close(done)
		defer leave()
		if err := n.sync.Run(running); err != nil && running.Err() == nil {
			fail(err)
		}
	}()
	return func() {
		n.drain(ctx)
		stop()
		<-done
	}
}

// refusedBy is the conflict that a wait for the cloud ended in; 0: none.
func refusedBy(err error) uint64 {
	if settled, ok := errors.AsType[*replica.SettledError](err); ok {
		return settled.Conflict
	}
	return 0
}
