package edge

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// StandaloneConfig is what the DynamoDB API alone is told.
type StandaloneConfig struct {
	DynamoDBConfig
	Data   string // the file that holds the data; empty with Memory
	Memory bool   // nothing is kept
	Log    *slog.Logger
	Ready  func(Answering) // called once, before the first request is answered
}

// Answering tells where the endpoint is.
type Answering struct {
	Endpoint string `json:"endpoint"`       // a URL, for AWS_ENDPOINT_URL_DYNAMODB
	Listen   string `json:"listen"`         // host:port
	Data     string `json:"data,omitempty"` // the file; empty: in memory
}

// DynamoDB answers the DynamoDB API alone, from a file or from memory, until ctx ends.
func DynamoDB(ctx context.Context, c StandaloneConfig) error {
	if _, err := isLoopback(c.Listen); err != nil { // an empty address too: elsewhere it stands for no endpoint
		return fault.New(fault.Invalid, "bad_listen", "cannot listen: %s", err)
	}
	e, err := NewEndpoint(ctx, c.DynamoDBConfig, "--listen", c.Log)
	if err != nil {
		return err
	}
	defer e.Close()
	s, err := c.open()
	if err != nil {
		return err
	}
	if c.Ready != nil {
		c.Ready(Answering{Endpoint: "http://" + e.Addr(), Listen: e.Addr(), Data: c.Data})
	}
	return errors.Join(c.run(ctx, e, s), s.Close())
}

// aloneJournal is how much of the journal is kept where nobody reads it but the streams, which have a budget of their own.
// Its pages would be the larger part of a small file, and of the memory that the process has mapped.
const aloneJournal = 1 << 20

func (c StandaloneConfig) open() (*store.Store, error) {
	if c.Memory {
		return store.OpenMemory(store.Options{})
	}
	return store.Open(c.Data, store.Options{JournalBytes: aloneJournal})
}

// run answers until ctx ends or the store fails, and looks after the store meanwhile.
func (c StandaloneConfig) run(ctx context.Context, e *Endpoint, s *store.Store) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer failWith(s, cancel)()
	work, rest := context.WithCancel(context.WithoutCancel(ctx))
	var loop sync.WaitGroup
	loop.Go(func() { _ = housekeep(work, s, clock.Real(), c.Log) }) // ends with its context only
	e.open(s, store.PolicyLocal)
	err := e.run(ctx)
	rest()
	loop.Wait()
	return errors.Join(causeOf(ctx), err)
}
