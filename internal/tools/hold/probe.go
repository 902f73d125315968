package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	probeEvery  = 25 * time.Millisecond
	probeWithin = 5 * time.Second // a later answer counts as none
)

// visit is a request of somebody who has nothing to do with the input. nth tells visitors apart.
type visit func(ctx context.Context, nth int) error

// httpVisit asks for a page of an application at the node's own port.
func httpVisit(n *node) visit {
	return func(ctx context.Context, nth int) error { return get(ctx, nth, "http://"+n.http+"/cricket/app/config") }
}

// dynamodbVisit asks the DynamoDB port whether it is healthy.
func dynamodbVisit(n *node) visit {
	return func(ctx context.Context, nth int) error { return get(ctx, nth, "http://"+n.dynamodb+"/") }
}

// get makes a request over a new connection, from an address that belongs to the visitor alone. Any status but 200 is an error.
func get(ctx context.Context, nth int, url string) error {
	from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(nth/250), byte(1+nth%250))}
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: from, Control: chooseLate}).DialContext, DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}

// probes are the results of visits.
type probes struct {
	mu           sync.Mutex
	made, failed int
	took         []float64 // ms, of all; a failed one took as long as it was waited for
	err          error     // of one that failed
}

// probe makes visits at fixed times for a while, and waits for the last answer.
func probe(ctx context.Context, during time.Duration, do visit) *probes {
	p := &probes{}
	every := time.NewTicker(probeEvery)
	defer every.Stop()
	var all sync.WaitGroup
	for nth := range int(during / probeEvery) {
		select {
		case <-every.C:
			all.Go(func() { p.add(ctx, nth, do) })
		case <-ctx.Done():
		}
	}
	all.Wait()
	return p
}

func (p *probes) add(ctx context.Context, nth int, do visit) {
	begun := time.Now()
	within, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	err := do(within, nth)
	took := time.Since(begun)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	p.took = append(p.took, took.Seconds()*1e3)
	if err != nil {
		p.failed++
		p.err = err
	}
}

// quantile returns the time in ms within which that part of the visits ended.
func (p *probes) quantile(part float64) float64 {
	if len(p.took) == 0 {
		return 0
	}
	slices.Sort(p.took)
	return p.took[min(len(p.took)-1, int(part*float64(len(p.took))))]
}

// String returns the results as one line.
func (p *probes) String() string {
	text := fmt.Sprintf("%d of %d probes failed, p50 %.1f ms, p99 %.1f ms, most %.1f ms", p.failed, p.made, p.quantile(0.5), p.quantile(0.99), p.quantile(1))
	if p.err != nil {
		text += fmt.Sprintf(" (%s)", p.err)
	}
	return text
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
