package replica_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Transactions implements replica.Prober, so that a node can ask through the tap.
func (t *tap) Transactions(ctx context.Context) (bool, error) {
	if err := t.reached(); err != nil {
		return false, err
	}
	if c, can := t.Cloud.(replica.Prober); can {
		return c.Transactions(ctx)
	}
	return true, nil
}

// plainStage is a stage whose cloud has no transactions, says so, and counts those that it is asked for all the same.
type plainStage struct {
	stage
	asked *atomic.Int32
}

func (s plainStage) cloud(node string) replica.Cloud { return plainCloud{s.stage.cloud(node), s.asked} }
func (plainStage) transactions() bool                { return false }

type plainCloud struct {
	replica.Cloud
	asked *atomic.Int32
}

// Transactions implements replica.Prober.
func (plainCloud) Transactions(context.Context) (bool, error) { return false, nil }

// Transact implements replica.Cloud.
func (c plainCloud) Transact(context.Context, []intent.Call, string) error {
	c.asked.Add(1)
	return &intent.Error{Class: intent.Validation, Err: errors.New("UnknownOperationException")}
}

// Table implements replica.Catalogue.
func (c plainCloud) Table(ctx context.Context, name string) (replica.TableState, error) {
	return c.Cloud.(replica.Catalogue).Table(ctx, name)
}

// playPlain plays a schedule where there are no transactions. A node that had not learnt it would find out what became of
// its write by the way that poison goes, and the schedule would show nothing of the one that it is about.
func playPlain(t *testing.T, s schedule, st stage) {
	t.Helper()
	asked := new(atomic.Int32)
	s.play(newScene(t, plainStage{st, asked}))
	if n := asked.Load(); n > 0 {
		t.Errorf("a cloud that has no transactions was asked for %d", n)
	}
}

// Those of the schedules that are about a cloud without transactions, with nodes that have asked it. The same against DynamoDB
// Local is TestPlainSchedulesOnDynamoDBLocal.
func TestPlainSchedules(t *testing.T) {
	for _, s := range schedules() {
		if s.plain {
			t.Run(s.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { playPlain(t, s, newSimStage(false)) })
			})
		}
	}
}
