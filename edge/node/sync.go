package node

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Cloud is a node's connection to its cloud.
type Cloud struct {
	Config CloudConfig
	Name   string // shown to people: a region, or an address
	Items  remote.Cloud
	Locks  func(table string) lease.Table
	Close  func() // closes connections after the node has ended; may be nil
}

// Open returns the connection to the configured cloud, or nil if there is none. It sends nothing.
func (c *CloudConfig) Open(ctx context.Context, log *slog.Logger) (*Cloud, error) {
	if !c.IsConfigured() {
		return nil, nil //nolint:nilnil // a node need not have a cloud
	}
	client, err := c.Client(ctx, log)
	if err != nil {
		return nil, err
	}
	return &Cloud{
		Config: *c, Name: c.Name(client), Items: client, Locks: func(table string) lease.Table { return client.Locks(table) }, Close: client.Reset,
	}, nil
}

// Client returns a client of the configured cloud. It sends nothing.
func (c *CloudConfig) Client(ctx context.Context, log *slog.Logger) (*dynamo.Client, error) {
	return dynamo.New(ctx, dynamo.Config{
		Endpoint: c.Endpoint, Region: c.Region, Profile: c.Profile, Prefix: c.Prefix, Deadline: c.Deadline, Log: log,
	})
}

// openCloud opens the replicator. It must run before the first write to the store.
func (n *Node) openCloud(ctx context.Context) error {
	c := n.parts.Cloud
	if c == nil {
		return nil
	}
	dir := ""
	if path := n.store.Path(); path != "" { // a store in memory has no directory
		dir = filepath.Dir(path)
	}
	sendBy, secret, merge := map[string]replica.SendBy{}, map[string]conflict.SecretFunc{}, map[string]conflict.MergeFunc{}
	for _, shared := range n.shared {
		maps.Copy(sendBy, shared.SendBy)
		maps.Copy(secret, shared.Secret)
		maps.Copy(merge, shared.Merge)
	}
	r, err := replica.New(replica.Config{
		Store: n.store, Cloud: c.Items, Dir: dir, Clock: n.machine, Jumps: n.parts.Jumps, Log: n.parts.Log,
		SyncTable: c.Config.SyncTable, LockTable: n.locksTable(), Poll: n.pollRules(&c.Config.Poll),
		Transactions: c.Config.transactions(), Budget: c.Config.Budget.budget(), Deadline: c.Config.Deadline,
		FencedOff: n.fencedOff, Merge: merge, Secret: secret, SendBy: sendBy,
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

// seldom is the interval of app.Seldom.
const seldom = 15 * time.Minute

// pollRules returns what the node polls, and how often.
func (n *Node) pollRules(every *CloudPollConfig) (rules []feed.Rule) {
	for _, shared := range n.shared {
		for _, r := range shared.Reads {
			paces := map[app.Pace]time.Duration{app.Slow: every.Tables, app.Live: every.Live, app.Seldom: seldom, app.Minute: time.Minute}
			rule := feed.Rule{Table: r.Table, Every: paces[r.Every]}
			if r.Partitions != nil {
				rule.Partitions = func(tx *store.Tx) ([]attr.Value, error) { return r.Partitions(tx, n.heldKeys()) }
			}
			rules = append(rules, rule)
		}
	}
	return rules
}

// heldKeys returns the keys of the locks that this node holds.
func (n *Node) heldKeys() (keys []string) {
	for _, l := range n.heldLeases() {
		keys = append(keys, l.Key)
	}
	return keys
}

const (
	drainFor  = 3 * time.Second // longest time for outstanding writes at shutdown
	drainLook = 20 * time.Millisecond
)

// drain gives outstanding writes a moment to reach the cloud, if it is reachable.
func (n *Node) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	for {
		st, err := n.sync.Status(ctx)
		if err != nil || !st.Up || st.Waiting == 0 {
			return
		}
		if drained, err := n.sync.IsDrained(ctx); err != nil || drained {
			return // quarantined writes wait for a person
		}
		if clock.Sleep(ctx, n.wall, drainLook) != nil {
			n.parts.Log.Info("writes are waiting for the cloud and will be sent when the node runs again", "waiting", st.Waiting)
			return
		}
	}
}

// runCloud runs the replicator until end is called, which first drains outstanding writes.
func (n *Node) runCloud(ctx context.Context, fail context.CancelCauseFunc) (end func()) {
	if n.sync == nil {
		return func() {}
	}
	leave := n.parts.Clock.Join()
	stop := Background(context.WithoutCancel(ctx), func(ctx context.Context) {
		defer leave()
		if err := n.sync.Run(ctx); err != nil && ctx.Err() == nil {
			fail(err)
		}
	})
	return func() { n.drain(ctx); stop() }
}
