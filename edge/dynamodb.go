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

// StandaloneConfig is what the DynamoDB API alone is told.
type StandaloneConfig struct {
	node.DynamoDBConfig
	Data   string // the file that holds the data; empty with Memory
	Memory bool   // nothing is kept

	// AnyKey accepts every credential, and none, on any address: for tests in containers. POST /_/reset empties the tables then,
	// for programs on this machine, and with RemoteReset for all.
	AnyKey      bool
	RemoteReset bool

	Log   *slog.Logger
	Ready func(Answering) // called once, before the first request is answered

	Reload <-chan os.Signal // each value has the files of keys and faults read again; nil: nobody asks
}

// Answering says where the endpoint listens.
type Answering struct {
	Endpoint string `json:"endpoint"`       // a URL, for AWS_ENDPOINT_URL_DYNAMODB
	Listen   string `json:"listen"`         // host:port
	Data     string `json:"data,omitempty"` // the file; empty: in memory
	AnyKey   bool   `json:"anyKey,omitempty"`
}

// DynamoDB answers the DynamoDB API alone, from a file or from memory, until ctx ends.
func DynamoDB(ctx context.Context, c StandaloneConfig) error {
	if _, err := node.IsLoopback(c.Listen); err != nil { // an empty address too: elsewhere it stands for no endpoint
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

// endpoint takes the port.
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

// reachable is where a program on this machine reaches an address: one that stands for all addresses is none to connect to
// everywhere.
func reachable(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().IsUnspecified() {
		return addr
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}

// aloneJournal is how much of the journal is kept where nobody reads it but the streams, which have a budget of their own.
// Its pages would be the larger part of a small file, and of the memory that the process has mapped.
const aloneJournal = 1 << 20

func (c StandaloneConfig) open() (*store.Store, error) {
	if c.Memory {
		return store.OpenMemory(store.Options{SweepEvery: c.TTLSweep})
	}
	return store.Open(c.Data, store.Options{JournalBytes: aloneJournal, SweepEvery: c.TTLSweep})
}

// run answers until ctx ends or the store fails, and looks after the store meanwhile.
func (c StandaloneConfig) run(ctx context.Context, e *node.Endpoint, s *store.Store) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer node.FailWith(s, cancel)()
	rest := node.Background(context.WithoutCancel(ctx), func(work context.Context) {
		_ = node.Housekeep(work, s, clock.Real(), c.Log) // ends with its context only
	})
	node.NameLongTurns(s, c.Log)
	e.Open(s, store.PolicyLocal, nil)
	err := e.Run(ctx)
	rest()
	return errors.Join(node.CauseOf(ctx), err)
}
