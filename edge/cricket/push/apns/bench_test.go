package apns

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"
	"golang.org/x/net/http2"

	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/internal/clock"
)

// hurried is a clock that advances two seconds at every reading, so that no token gets pushes too fast.
type hurried struct {
	clock.Clock
	now atomic.Int64
}

// Now implements clock.Clock.
func (h *hurried) Wall() time.Time { return h.Now() }

func (h *hurried) Now() time.Time { return time.Unix(h.now.Add(2), 0).UTC() }

// benchBox is a sandbox with many phones for a benchmark; next gives their tokens in turn.
func benchBox(b *testing.B, delay time.Duration) (box *sandbox.Sandbox, url string, next func() string) {
	b.Helper()
	h := &hurried{}
	h.now.Store(1.5e9)
	var err error
	box, err = sandbox.New(sandbox.Config{Clock: h, Delay: delay, LogSize: 1})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- box.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	url = box.URL()
	var tokens [1024]string
	for i := range tokens {
		ph, err := box.AddPhone(sandbox.Phone{Name: "Ada", DeviceID: fmt.Sprint(i)}, nil)
		if err != nil {
			b.Fatal(err)
		}
		tokens[i] = ph.DeviceToken
	}
	var n atomic.Uint64
	return box, url, func() string { return tokens[n.Add(1)%uint64(len(tokens))] }
}

// benchPayload is of the size of a usual score.
var benchPayload = []byte(fmt.Sprintf(`{"aps":{"alert":{"title":"a","body":"%0500d"}}}`, 0))

// measure sends b.N pushes from several goroutines and reports pushes per second.
func measure(b *testing.B, workers int, send func() int) {
	b.Helper()
	if status := send(); status != 200 { // the connection stands and the bearer is made
		b.Fatalf("status %d", status)
	}
	b.SetParallelism(max(1, workers/2))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if status := send(); status != 200 {
				b.Errorf("status %d", status)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pushes/s")
}

// BenchmarkSend compares this package with the bare library on the same sandbox in the same run.
func BenchmarkSend(b *testing.B) {
	for _, delay := range []time.Duration{0, 50 * time.Millisecond} {
		workers := 64
		if delay > 0 {
			workers = 256
		}
		b.Run(fmt.Sprintf("bare/%v", delay), func(b *testing.B) {
			box, url, next := benchBox(b, delay)
			acc := box.Account()
			c := apns2.NewTokenClient(&token.Token{AuthKey: acc.Key, KeyID: acc.KeyID, TeamID: acc.TeamID})
			c.Host = url
			roots := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: acc.RootCAs}
			c.HTTPClient.Transport.(*http2.Transport).TLSClientConfig = roots //nolint:staticcheck // the library's own transport
			defer c.CloseIdleConnections()
			measure(b, workers, func() int {
				res, err := c.Push(&apns2.Notification{
					DeviceToken: next(), Topic: acc.BundleID, Priority: 5, Payload: benchPayload, PushType: apns2.PushTypeAlert,
					Expiration: time.Unix(1<<33, 0),
				})
				if err != nil {
					b.Error(err)
					return 0
				}
				return res.StatusCode
			})
		})
		b.Run(fmt.Sprintf("ours/%v", delay), func(b *testing.B) {
			box, url, next := benchBox(b, delay)
			acc := box.Account()
			c, err := New(Config{
				Host: url, BundleID: acc.BundleID, TeamID: acc.TeamID, KeyID: acc.KeyID, Key: acc.Key, RootCAs: acc.RootCAs,
			})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			measure(b, workers, func() int {
				return c.Send(b.Context(), Push{
					Token: next(), Type: TypeAlert, Priority: PriorityNormal, Payload: benchPayload, Expiration: time.Unix(1<<33, 0),
				}).Status
			})
		})
	}
}
