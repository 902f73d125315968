package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// gate is a replicator whose first write blocks in its turn.
type gate struct{ has, end chan struct{} }

func (g gate) Compile(*store.Tx, []store.Write) error {
	close(g.has)
	<-g.end
	return nil
}

func (gate) Expire(*store.Tx, *store.TableSpec, attr.Item) (bool, error) { return true, nil }

// The log names the request that holds the writer, by key, operation and table, and none that waits.
func TestLongTurnIsLogged(t *testing.T) {
	spec := store.TableSpec{
		Name: "held", Key: store.KeySpec{Partition: store.KeyAttr{Name: "a", Type: store.KeyString}}, Policy: store.PolicyIntent, Why: "a test's",
	}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, WriteStall: 100 * time.Millisecond}, spec)
	var log bytes.Buffer // written under the mutex of its handler, read when all turns are over
	NameLongTurns(s, slog.New(slog.NewJSONHandler(&log, nil)))
	g := gate{has: make(chan struct{}), end: make(chan struct{})}
	s.Replicate(g)
	var keys []sigv4.Key
	for _, id := range []string{"AKIDCULPRIT", "AKIDWAITER"} {
		keys = append(keys, sigv4.Key{
			ID: id, Secret: "a secret of a test", Allow: []sigv4.Grant{{Tables: []string{"*"}, Actions: []string{"*"}}},
		})
	}
	ring, err := sigv4.NewKeyring(sigv4.Config{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	api := dynamoapi.New(dynamoapi.Config{Store: s, Verifier: sigv4.New(ring, time.Now)})
	send := func(operation, key, body string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		sum := sha256.Sum256([]byte(body))
		creds := aws.Credentials{AccessKeyID: key, SecretAccessKey: "a secret of a test"}
		if err := signer.NewSigner().SignHTTP(t.Context(), creds, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", time.Now()); err != nil {
			t.Error(err)
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w.Code
	}
	held := make(chan int)
	go func() { held <- send("PutItem", "AKIDCULPRIT", `{"TableName":"held","Item":{"a":{"S":"x"}}}`) }()
	<-g.has
	if status := send("DeleteItem", "AKIDWAITER", `{"TableName":"held","Key":{"a":{"S":"y"}}}`); status != http.StatusServiceUnavailable {
		t.Errorf("who waits is answered %d", status)
	}
	close(g.end)
	if status := <-held; status != http.StatusOK {
		t.Errorf("who held the writer is answered %d", status)
	}
	overs := 0
	for line := range strings.Lines(log.String()) {
		var got struct {
			Level, Msg, Key, Operation string
			Tables                     []string
			MS                         int64
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if got.Level != "WARN" || got.Key != "AKIDCULPRIT" || got.Operation != "PutItem" || !slices.Equal(got.Tables, []string{"held"}) || got.MS < 100 {
			t.Errorf("logged: %s", line)
		}
		if got.Msg == "a transaction held the writer" {
			overs++
		}
	}
	if overs != 1 {
		t.Errorf("logged %d times when it was over:\n%s", overs, log.String())
	}
}

// A turn of the node itself is named as such.
func TestLongTurnOfTheNode(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, WriteStall: 100 * time.Millisecond})
	var log bytes.Buffer
	NameLongTurns(s, slog.New(slog.NewJSONHandler(&log, nil)))
	err := s.Update(t.Context(), func(*store.Tx) error {
		return s.Update(t.Context(), func(*store.Tx) error { return nil })
	})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(log.String(), `"by":"the node itself"`) {
		t.Errorf("%v; logged: %s", err, log.String())
	}
}

func TestHeldWriterIsNotReady(t *testing.T) {
	for held, ready := range map[time.Duration]bool{0: true, notReadyFrom - 1: true, notReadyFrom: false, time.Minute: false} {
		err := heldWriter(&store.Stats{Held: held, Waiting: 3})
		if ready != (err == nil) {
			t.Errorf("held for %v: %v", held, err)
		}
		if !ready && (!fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "3 are waiting")) {
			t.Errorf("held for %v: %v", held, err)
		}
	}
}

// Readiness and metrics show a writer held by one transaction, for as long as it lasts.
func TestHeldWriterIsShown(t *testing.T) {
	s, err := store.OpenMemory(store.Options{WriteStall: notReadyFrom})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	n, err := Open(t.Context(), "", Parts{Clock: clock.Real(), Store: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	shown := func() (held, turns float64, ready error) {
		for _, check := range n.ready(t.Context()) {
			if check.Name == "writer" {
				ready = check.Err
			}
		}
		return scrape(t, n, "touchline_store_writer_held_seconds"), scrape(t, n, "touchline_store_long_turns_total"), ready
	}
	if held, turns, ready := shown(); ready != nil || held != 0 || turns != 0 {
		t.Errorf("before: %v, held for %v s, %v long turns", ready, held, turns)
	}
	has, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.Update(t.Context(), func(*store.Tx) error {
			close(has)
			<-end
			return nil
		})
	}()
	<-has
	if err := s.Update(t.Context(), func(*store.Tx) error { return nil }); !fault.Is(err, fault.Unavailable) { // after WriteStall
		t.Errorf("who waits: %v", err)
	}
	if held, _, ready := shown(); !fault.Is(ready, fault.Unavailable) || held < notReadyFrom.Seconds() {
		t.Errorf("while it is held: %v, held for %v s", ready, held)
	}
	close(end)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if held, turns, ready := shown(); ready != nil || held != 0 || turns != 1 {
		t.Errorf("after: %v, held for %v s, %v long turns", ready, held, turns)
	}
}

// scrape reads one metric of a node.
func scrape(t *testing.T, n *Node, name string) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(nodeCollector{n})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if m := f.GetMetric(); f.GetName() == name {
			return m[0].GetGauge().GetValue() + m[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
