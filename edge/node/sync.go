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

// Cloud is the way to a node's cloud.
type Cloud struct {
	Config CloudConfig
	Name   string // for people: a region, or an address
	Items  remote.Cloud
	Locks  func(table string) lease.Table
	Close  func() // of connections, when the node has ended; nil: there is nothing to close
}

// Open returns the connection to the configured cloud, nil if there is none. It sends nothing.
func (c *CloudConfig) Open(ctx context.Context, log *slog.Logger) (*Cloud, error) {
	if !c.Configured() {
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

// Client goes to the configured cloud. It sends nothing yet.
func (c *CloudConfig) Client(ctx context.Context, log *slog.Logger) (*dynamo.Client, error) {
	return dynamo.New(ctx, dynamo.Config{
		Endpoint: c.Endpoint, Region: c.Region, Profile: c.Profile, Prefix: c.Prefix, Deadline: c.Deadline, Log: log,
	})
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
	sendBy, secret, merge := map[string]replica.SendBy{}, map[string]conflict.SecretFunc{}, map[string]conflict.MergeFunc{}
	for _, a := range n.parts.Apps {
		maps.Copy(sendBy, a.Cloud().SendBy)
		maps.Copy(secret, a.Cloud().Secret)
		maps.Copy(merge, a.Cloud().Merge)
	}
	r, err := replica.New(replica.Config{
		Store: n.store, Cloud: c.Items, Dir: dir, Clock: n.parts.Clock, Log: n.parts.Log,
		SyncTable: c.Config.SyncTable, LockTable: n.fenced(), Poll: n.pollRules(&c.Config.Poll),
		Transactions: c.Config.transactions(), Budget: c.Config.Budget.budget(), Deadline: c.Config.Deadline,
		Deposed: n.fencedOff, Merge: merge, Secret: secret, SendBy: sendBy,
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

// seldom is how often a large table is read of which little changes.
const seldom = 15 * time.Minute

// pollRules is what the node reads of what others write.
func (n *Node) pollRules(every *CloudPollConfig) (rules []feed.Rule) {
	for _, a := range n.parts.Apps {
		for _, r := range a.Cloud().Reads {
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

// heldKeys are the locks that this node holds.
func (n *Node) heldKeys() (keys []string) {
	for _, l := range n.held() {
		keys = append(keys, l.Key)
	}
	return keys
}

const (
	drainFor  = 3 * time.Second // at the end: what waits goes as far as it does
	drainLook = 20 * time.Millisecond
)

// drain waits a moment for outstanding writes to reach the cloud, while it can be reached.
func (n *Node) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	for {
		st, err := n.sync.Status(ctx)
		if err != nil || !st.Up || st.Waiting == 0 {
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
	leave := n.parts.Clock.Join()
	stop := Background(context.WithoutCancel(ctx), func(ctx context.Context) {
		defer leave()
		if err := n.sync.Run(ctx); err != nil && ctx.Err() == nil {
			fail(err)
		}
	})
	return func() { n.drain(ctx); stop() }
}
