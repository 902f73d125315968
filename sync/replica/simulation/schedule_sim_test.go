package simulation_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/sync/replica/remote"
)

// simStage is the simulated cloud, under the virtual time of a bubble.
type simStage struct {
	c   *simcloud.Cloud
	net *simcloud.Network
}

func newSimStage(transactions bool) *simStage {
	c := simcloud.New(simcloud.Options{NoTransactions: !transactions})
	c.Create(cloudSpecs()...)
	return &simStage{c: c, net: simcloud.NewNetwork(c, simcloud.NewTimer(), 1)}
}

func (s *simStage) cloud(node string) remote.Cloud { return s.net.Link(node, time.Now, nil) }
func (s *simStage) clock() clock.Clock             { return bubbleClock{} }

func (s *simStage) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// bubbleClock is a bubble's clock, which ends waits in an order of its own.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time       { return time.Now().UTC() }
func (bubbleClock) Wall() time.Time      { return time.Now().UTC() }
func (bubbleClock) Join() (leave func()) { return func() {} }
func (bubbleClock) Suspend(f func())     { f() }
func (bubbleClock) Wait(ctx context.Context, until time.Time, sig *clock.Signal) error {
	return clock.Real().Wait(ctx, until, sig)
}

// The schedules that broke earlier versions of the protocol, against the simulated cloud. TestSchedulesOnDynamoDBLocal runs them against
// DynamoDB Local.
func TestSchedules(t *testing.T) {
	for _, s := range schedules() {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { s.on(t, newSimStage(!s.plain)) })
		})
	}
}
