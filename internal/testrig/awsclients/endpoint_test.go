//go:build long

package awsclients_test

import (
	"context"
	"flag"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/awsclients"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

var (
	against = flag.String("against", "ours", "what the clients ask: ours, or local (DynamoDB Local)")
	all     = flag.Bool("all", false, "let a script go on where something differs")
)

// endpoint returns an endpoint without tables.
func endpoint(t testing.TB) awsclients.Endpoint {
	t.Helper()
	e := caller()
	if *against == "local" {
		e.URL = ddblocal.Start(t).URL
	} else {
		e.URL = ours(t, everything(e), nil)
	}
	return e
}

// caller returns the region and credentials of an endpoint, without its URL.
func caller() awsclients.Endpoint {
	return awsclients.Endpoint{Region: "us-east-1", KeyID: "AKIATOUCHLINE0000001", Secret: "wJalrXUtn/not+a+secret"}
}

// everything returns a key that may do everything.
func everything(e awsclients.Endpoint) sigv4.Key {
	return sigv4.Key{
		ID: e.KeyID, Secret: sigv4.Secret(e.Secret), Allow: []sigv4.Grant{{Tables: []string{"*"}, Actions: []string{"*"}}},
	}
}

// ours serves a store until the test ends, for the given key, with faults if not nil.
func ours(t testing.TB, key sigv4.Key, faults *inject.Injector) string {
	t.Helper()
	ring, err := sigv4.NewKeyring(sigv4.Config{Keys: []sigv4.Key{key}})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	st := storetest.Open(t)
	api := dynamoapi.New(dynamoapi.Config{Store: st, Verifier: sigv4.New(ring, time.Now), Faults: faults})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := api.Run(ctx, ln); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	running.Go(func() { housekeep(ctx, t, st) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return "http://" + ln.Addr().String()
}

// housekeep fills and empties indexes until ctx ends, like every node.
func housekeep(ctx context.Context, t testing.TB, s *store.Store) {
	changed := clock.NewSignal()
	defer s.WatchTables(changed)()
	for ctx.Err() == nil {
		more, err := s.Housekeep(ctx)
		if err != nil && ctx.Err() == nil {
			t.Errorf("housekeeping: %v", err)
		}
		if !more {
			_ = clock.Real().Wait(ctx, time.Now().Add(time.Minute), changed) // fails when ctx ends
		}
	}
}

// retryer does not retry, so that failures are visible. DynamoDB Local sometimes fails while an index is created.
func retryer() aws.Retryer {
	if *against == "local" {
		return retry.NewStandard()
	}
	return aws.NopRetryer{}
}

// web returns the HTTP client of the Go tests.
func web() *http.Client { return &http.Client{Timeout: time.Minute} }

// client returns aws-sdk-go-v2 as an application uses it, except for its retryer.
func client(e awsclients.Endpoint, more ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(e.URL), Region: e.Region, Retryer: retryer(), HTTPClient: web(),
		Credentials: credentials.NewStaticCredentialsProvider(e.KeyID, e.Secret, ""),
	}, more...)
}

// streams is client for streams.
func streams(e awsclients.Endpoint) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: aws.String(e.URL), Region: e.Region, Retryer: retryer(), HTTPClient: web(),
		Credentials: credentials.NewStaticCredentialsProvider(e.KeyID, e.Secret, ""),
	})
}
