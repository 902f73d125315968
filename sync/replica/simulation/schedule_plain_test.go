package simulation_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// plainStage is a stage whose cloud has no transactions and says so. It counts the ones requested nevertheless.
type plainStage struct {
	stage
	asked *atomic.Int32
}

func (s plainStage) cloud(node string) remote.Cloud { return plainCloud{s.stage.cloud(node), s.asked} }

type plainCloud struct {
	remote.Cloud
	asked *atomic.Int32
}

// Transactions implements remote.Cloud.
func (plainCloud) Transactions(context.Context) (bool, error) { return false, nil }

// Transact implements remote.Cloud.
func (c plainCloud) Transact(context.Context, []intent.Call, string) error {
	c.asked.Add(1)
	return &intent.Error{Class: intent.Validation, Err: errors.New("UnknownOperationException")}
}

// on plays a schedule on a stage. If the cloud has no transactions, the nodes must know it: one that sent a transaction would learn the
// fate of its write the way it does for poison, and the schedule would not test what it is about.
func (s schedule) on(t *testing.T, st stage) {
	if !s.plain {
		s.play(newScene(t, st))
		return
	}
	asked := new(atomic.Int32)
	s.play(newScene(t, plainStage{st, asked}))
	if n := asked.Load(); n > 0 {
		t.Errorf("a cloud without transactions was sent %d", n)
	}
}
