package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/storetest"
)

// TestRunMeasuresEveryOperation measures all rows with the endpoint in this process, which also stands for the peer: the figures mean
// nothing.
func TestRunMeasuresEveryOperation(t *testing.T) {
	b := begin(t, "-rows", "^(peers|canned|alone|memory)/")
	b.size = sizes{rounds: 1, items: 400, ready: 2, slice: 2 * time.Millisecond, warm: time.Millisecond}
	t.Cleanup(b.end)
	peer := inProcess(t, dynalite, endpoint(t))
	peer.slow, peer.lacks = true, "transact"
	bytesOnly := inProcess(t, cannedBytes, canned())
	bytesOnly.empty = true
	for _, s := range []*server{bytesOnly, inProcess(t, ours, endpoint(t)), inProcess(t, oursMemory, endpoint(t)), peer} {
		if err := b.add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	b.leaveOut(localMemory, errors.New("no Java here\nnot at all"))
	b.leaveOut(localDisk, errors.New("no Java here\nnot at all"))
	if err := b.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	lacking := map[string]string{
		"peers/transact": "there is no peer here", "memory/transact": "it has no such operation",
		"alone/put": "no Java here", "alone/put-if": "no Java here", "alone/update": "no Java here",
	}
	rows := b.Rows()
	for _, r := range rows {
		if r.Missing != lacking[r.ID] {
			t.Errorf("%s is not measured: %q, want %q", r.ID, r.Missing, lacking[r.ID])
		}
		if r.Missing == "" && (r.Ours.Median <= 0 || r.Floor.Median <= 0) {
			t.Errorf("%s: %v, %v", r.ID, r.Ours, r.Floor)
		}
	}
	if want := len(targets) - 4; len(rows) != want { // without memory and starts
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	var out bytes.Buffer
	if err := b.report().writeText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the best peer: " + dynalite, "left out: " + localDisk + ": no Java here\n", "\n" + oursMemory + " "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.String())
		}
	}
}

// TestPeerThatFailsLeaves checks that a run continues without a peer that fails, but not without ours.
func TestPeerThatFailsLeaves(t *testing.T) {
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	for name, want := range map[string]bool{localDisk: true, ours: false} {
		b := begin(t)
		b.size = sizes{rounds: 1, items: 400, ready: 2, slice: time.Millisecond}
		t.Cleanup(b.end)
		b.servers = []*server{inProcess(t, cannedBytes, canned()), inProcess(t, name, broken)}
		err := b.run(t.Context(), workload{operations[0], 2})
		if left := err == nil && b.absent[name] != "" && b.server(name) == nil; left != want {
			t.Errorf("%s fails: left %v, want %v (%v)", name, left, want, err)
		}
		if _, measured := b.results.of(cannedBytes, "put", 2); measured != want {
			t.Errorf("%s fails: the other is measured: %v, want %v", name, measured, want)
		}
	}
}

// TestClientsHaveItemsOfTheirOwn checks that no two clients write the same item, and that all write to the table.
func TestClientsHaveItemsOfTheirOwn(t *testing.T) {
	const clients, items = 16, 400
	owner := map[int]int{}
	record := operation{make: func(next func() int) call {
		n := next()
		return func(context.Context, *dynamodb.Client) error { return keyError(n) }
	}}
	for i, own := range record.prepare(clients, items, 64) {
		for _, c := range own {
			var n keyError
			if err := c(t.Context(), nil); !errors.As(err, &n) || n < 0 || int(n) >= items {
				t.Fatal(err)
			}
			if other, taken := owner[int(n)]; taken && other != i {
				t.Fatalf("clients %d and %d write item %d", i, other, n)
			}
			owner[int(n)] = i
		}
	}
}

// keyError carries the item that a request is about.
type keyError int

func (keyError) Error() string { return "a key" }

// begin returns a run that has not measured anything.
func begin(t *testing.T, args ...string) *bench {
	t.Helper()
	run, err := measure.Begin("benchapi", targets, args, io.Discard, func(*flag.FlagSet) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.End)
	return newBench(run, "")
}

func endpoint(t *testing.T) http.Handler {
	return dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t)})
}

// inProcess serves in this process.
func inProcess(t *testing.T, name string, h http.Handler) *server {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	return &server{
		name: name, client: newClient(ln.Addr().String()),
		stop: func() { _ = srv.Close(); <-done },
	}
}
