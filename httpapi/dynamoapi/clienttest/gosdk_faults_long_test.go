//go:build long

package clienttest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/testrig/awsclients"
)

// between puts a handler between clients and an endpoint. It gets the way on.
func between(t *testing.T, e awsclients.Endpoint, f func(w http.ResponseWriter, r *http.Request, next http.Handler)) awsclients.Endpoint {
	t.Helper()
	to, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	next := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w, r, next) }))
	t.Cleanup(s.Close)
	e.URL = s.URL
	return e
}

// trying is a retryer that waits for little.
func trying(o *dynamodb.Options) {
	o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 5, time.Millisecond })
}

// TestGoSDKTriesAgain loses the answer of a write after it was done: the client writes again, and a transaction's token,
// which the client makes up, keeps it from being done twice.
func TestGoSDKTriesAgain(t *testing.T) {
	var lost atomic.Int32
	e := endpoint(t)
	makeTable(t, client(e), "tab")
	lossy := between(t, e, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") || lost.Add(1) > 2 {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	c := client(lossy, trying)
	if _, err := c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{
		Update: &types.Update{
			TableName: aws.String("tab"), Key: key(1), UpdateExpression: aws.String("ADD n :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": number(1)},
		},
	}}}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key(1), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Item["n"].(*types.AttributeValueMemberN).Value; n != "1" || lost.Load() != 3 {
		t.Errorf("n is %s after %d attempts", n, lost.Load())
	}
}

// TestGoSDKGivesUp cancels a request while it is answered.
func TestGoSDKGivesUp(t *testing.T) {
	e := endpoint(t)
	makeTable(t, client(e), "tab")
	ctx, cancel := context.WithCancel(t.Context())
	slow := between(t, e, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		cancel()
		<-r.Context().Done()
	})
	_, err := client(slow, trying).PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: key(1)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is given up: %v", err)
	}
	got, err := client(e).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key(1)})
	if err != nil || len(got.Item) != 2 {
		t.Errorf("the write was done before: %v, %v", got, err)
	}
}

// packed sends bodies packed, and notes how the answers came.
type packed struct{ answers []string }

// Do implements dynamodb.HTTPClient.
func (p *packed) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	r.Body, r.ContentLength = io.NopCloser(&small), int64(small.Len())
	r.Header.Set("Content-Encoding", "gzip")
	resp, err := web().Do(r)
	if err == nil {
		p.answers = append(p.answers, resp.Header.Get("Content-Encoding"))
	}
	return resp, err
}

// TestGoSDKGzip packs requests and answers.
func TestGoSDKGzip(t *testing.T) {
	if *against == "local" {
		t.Skip("DynamoDB Local packs nothing")
	}
	e := endpoint(t)
	makeTable(t, client(e), "tab")
	var p packed
	c := client(e, func(o *dynamodb.Options) { o.HTTPClient, o.EnableAcceptEncodingGzip = &p, true })
	long := strings.Repeat("long ", 10_000)
	it := item(1, map[string]types.AttributeValue{"v": text(long)})
	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: it}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key(1)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Item["v"].(*types.AttributeValueMemberS).Value != long || p.answers[1] != "gzip" {
		t.Errorf("answers came as %q", p.answers)
	}
}
