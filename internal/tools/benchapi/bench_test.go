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
	b := begin(t, "-rows", "^(peers|canned|alone|memory|http|local)/")
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
		"peers/transact": "there is no peer here",
		"alone/put":      "no Java here", "alone/put-if": "no Java here", "alone/update": "no Java here",
		"local/put": "no Java here", "local/put-64": "no Java here", "local/get": "no Java here", "local/query": "no Java here",
		"local/memory": "no Java here",
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
	if want := len(targets) - 4; len(rows) != want { // without resident memory and starts
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	var out bytes.Buffer
	if err := b.report().WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the best peer: " + dynalite, "left out: " + localDisk + ": no Java here\n", "\n" + oursMemory + " "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.String())
		}
	}
}

// TestServerThatFailsIsNamed checks that a run ends with the name of a server that fails.
func TestServerThatFailsIsNamed(t *testing.T) {
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	b := begin(t)
	b.size = sizes{rounds: 1, items: 400, ready: 2, slice: time.Millisecond}
	t.Cleanup(b.end)
	b.servers = []*server{inProcess(t, ours, canned()), inProcess(t, cannedBytes, broken)}
	if err := b.run(t.Context(), workload{operations[0], 2}); err == nil || !strings.HasPrefix(err.Error(), cannedBytes+": ") {
		t.Errorf("a server fails: %v", err)
	}
	b.servers[0].name, b.servers[1].name = cannedBytes, ours
	if err := b.measureBare(t.Context()); err == nil || !strings.HasPrefix(err.Error(), ours+": refused") {
		t.Errorf("a server fails bare clients: %v", err)
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
	return newServer(name, ln.Addr().String(), 0, func() { _ = srv.Close(); <-done })
}
