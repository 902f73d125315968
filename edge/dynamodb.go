package edge

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// StandaloneConfig configures the DynamoDB API without a node.
type StandaloneConfig struct {
	node.DynamoDBConfig
	Data   string // database file; empty with Memory
	Memory bool   // keep the data in memory only

	// AnyKey accepts any credentials, or none, on any address: for tests in containers. It also enables POST /_/reset, which empties
	// the tables, for programs on this machine, or with RemoteReset for everyone.
	AnyKey      bool
	RemoteReset bool

	Log   *slog.Logger
	Ready func(Answering) // called once, before the first request is answered

	Reload <-chan os.Signal // each value reloads the files of keys and faults; may be nil
}

// Answering is where the endpoint listens.
type Answering struct {
	Endpoint string `json:"endpoint"`       // URL for AWS_ENDPOINT_URL_DYNAMODB
	Listen   string `json:"listen"`         // host:port
	Data     string `json:"data,omitempty"` // database file; empty: in memory
	AnyKey   bool   `json:"anyKey,omitempty"`
}

// DynamoDB serves only the DynamoDB API, from a file or from memory, until ctx ends.
func DynamoDB(ctx context.Context, c StandaloneConfig) error {
	if _, err := node.IsLoopback(c.Listen); err != nil { // refuses the empty address too, which in a node means no endpoint
		return fault.New(fault.Invalid, "bad_listen", "cannot listen: %s", err)
	}
	if p := c.SweepProblem(); p != "" {
		return fault.New(fault.Invalid, "bad_sweep", "--ttl-sweep %s", p)
	}
	e, err := c.endpoint(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	e.Limit(node.ShareFiles(connlimit.Files(), c.Log, dynamoapi.DefaultConnections)[0])
	s, err := c.open()
	if err != nil {
		return err
	}
	if c.Ready != nil {
		c.Ready(Answering{Endpoint: "http://" + reachable(e.Addr()), Listen: e.Addr(), Data: c.Data, AnyKey: c.AnyKey})
	}
	defer c.startReloading(ctx, e)()
	return errors.Join(c.run(ctx, e, s), s.Close())
}

// endpoint listens on the configured address.
func (c StandaloneConfig) endpoint(ctx context.Context) (*node.Endpoint, error) {
	if p := c.ListenProblem(); p != "" && !c.AnyKey {
		return nil, fault.New(fault.Invalid, "bad_listen", "cannot listen: %s; for tests, --any-key accepts every key", p)
	}
	if !c.AnyKey {
		return node.NewEndpoint(ctx, c.DynamoDBConfig, "--listen", c.Log)
	}
	e, err := node.NewOpenEndpoint(ctx, c.DynamoDBConfig, "--listen", c.Log)
	if err != nil {
		return nil, err
	}
	e.ResetBy(dynamoapi.ResetFromLoopback)
	if c.RemoteReset {
		e.ResetBy(dynamoapi.ResetFromAnywhere)
	}
	c.Log.Warn("every key is accepted: anyone who can reach the address may read, change and delete everything", "listen", e.Addr(), "remoteReset", c.RemoteReset)
	return e, nil
}

// reachable returns an address to connect to from this machine. Not every system can connect to an unspecified address such as 0.0.0.0,
// so that becomes 127.0.0.1.
func reachable(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().IsUnspecified() {
		return addr
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}

// aloneJournal is how much of the journal is kept, in bytes. Only the streams read it, and they have a budget of their own. A longer
// journal would be the larger part of a small file, and of the mapped memory.
const aloneJournal = 1 << 20

func (c StandaloneConfig) open() (*store.Store, error) {
	if c.Memory {
		return store.OpenMemory(store.Options{SweepEvery: c.TTLSweep})
	}
	return store.Open(c.Data, store.Options{JournalBytes: aloneJournal, SweepEvery: c.TTLSweep})
}

// run serves, and maintains the store, until ctx ends or the store fails.
func (c StandaloneConfig) run(ctx context.Context, e *node.Endpoint, s *store.Store) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer node.FailWith(s, cancel)()
	rest := node.Background(context.WithoutCancel(ctx), func(work context.Context) {
		_ = node.Housekeep(work, s, clock.Real(), c.Log) // returns only when its context ends
	})
	node.NameLongTurns(s, c.Log)
	e.Open(s, store.PolicyLocal, nil, nil)
	err := e.Run(ctx)
	rest()
	return errors.Join(node.CauseOf(ctx), err)
}
