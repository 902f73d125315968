//go:build long

package clienttest_test

import (
	"context"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/awsclients"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/store/storetest"
)

var against = flag.String("against", "ours", "what the clients ask: ours, or local (DynamoDB Local)")

// endpoint gives an endpoint without tables.
func endpoint(t testing.TB) awsclients.Endpoint {
	t.Helper()
	e := awsclients.Endpoint{Region: "us-east-1", KeyID: "AKIATOUCHLINE0000001", Secret: "not a secret"}
	if *against == "local" {
		e.URL = local(t)
	} else {
		e.URL = ours(t)
	}
	return e
}

// ours serves a store until the test ends.
func ours(t testing.TB) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api := dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t)})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- api.Run(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return "http://" + ln.Addr().String()
}

// local is a way into a DynamoDB Local, which may be in a network of its own.
func local(t testing.TB) string {
	t.Helper()
	s := ddblocal.Start(t)
	to, err := url.Parse(strings.TrimSuffix(s.URL, "/"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: s.Client.Transport,
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// retryer tries nothing again: what fails is to be seen. DynamoDB Local fails now and then while an index is made.
func retryer() aws.Retryer {
	if *against == "local" {
		return retry.NewStandard()
	}
	return aws.NopRetryer{}
}

// web is how the Go tests ask.
func web() *http.Client { return &http.Client{Timeout: time.Minute} }

// client is aws-sdk-go-v2 as an application makes it, but for its retryer.
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
