//go:build long

package awsclients_test

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
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/internal/testrig/awsclients"
)

// between puts a handler between clients and an endpoint. next forwards a request.
func between(t *testing.T, e awsclients.Endpoint, f func(w http.ResponseWriter, r *http.Request, next http.Handler)) awsclients.Endpoint {
	t.Helper()
	to, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	next := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w, r, next) }))
	t.Cleanup(s.Close)
	e.URL = s.URL
	return e
}

// trying sets a retryer with short waits.
func trying(o *dynamodb.Options) {
	o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 5, time.Millisecond })
}

// TestGoSDKTriesAgain loses the answer of a write that was done: the client retries, and a transaction's token, which the client makes
// up, prevents it from being done twice.
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

// pack is a middleware of the client that compresses bodies before they are signed.
func pack(ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler) (middleware.BuildOutput, middleware.Metadata, error) {
	fail := func(err error) (middleware.BuildOutput, middleware.Metadata, error) {
		return middleware.BuildOutput{}, middleware.Metadata{}, err
	}
	r := in.Request.(*smithyhttp.Request)
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	if _, err := io.Copy(w, r.GetStream()); err != nil {
		return fail(err)
	}
	if err := w.Close(); err != nil {
		return fail(err)
	}
	packed, err := r.SetStream(bytes.NewReader(small.Bytes()))
	if err != nil {
		return fail(err)
	}
	packed.Header.Set("Content-Encoding", "gzip")
	in.Request = packed
	return next.HandleBuild(ctx, in)
}

// noting records how answers are compressed.
type noting struct{ encodings []string }

// Do implements dynamodb.HTTPClient.
func (n *noting) Do(r *http.Request) (*http.Response, error) {
	resp, err := web().Do(r)
	if err == nil {
		n.encodings = append(n.encodings, r.Header.Get("Content-Encoding")+"/"+resp.Header.Get("Content-Encoding"))
	}
	return resp, err
}

// TestGoSDKGzip compresses requests and answers.
func TestGoSDKGzip(t *testing.T) {
	if *against == "local" {
		t.Skip("DynamoDB Local packs nothing")
	}
	e := endpoint(t)
	makeTable(t, client(e), "tab")
	var n noting
	c := client(e, func(o *dynamodb.Options) {
		o.HTTPClient, o.EnableAcceptEncodingGzip = &n, true
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			return s.Build.Add(middleware.BuildMiddlewareFunc("pack", pack), middleware.Before)
		})
	})
	long := strings.Repeat("long ", 10_000)
	it := item(1, map[string]types.AttributeValue{"v": text(long)})
	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: it}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key(1)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Item["v"].(*types.AttributeValueMemberS).Value != long || n.encodings[1] != "gzip/gzip" {
		t.Errorf("requests and answers came as %q", n.encodings)
	}
}

// TestGoSDKSignatures uses keys that are unknown, wrong, or not allowed to do what is requested.
func TestGoSDKSignatures(t *testing.T) {
	if *against == "local" {
		t.Skip("DynamoDB Local looks at no signature")
	}
	e := awsclients.Endpoint{Region: "us-east-1", KeyID: "AKIAREADER", Secret: "the secret of the reader"}
	e.URL = ours(t, sigv4.Key{
		ID: e.KeyID, Secret: sigv4.Secret(e.Secret), Allow: []sigv4.Grant{{Tables: []string{"tab*"}, Actions: []string{"read"}}},
	}, nil)
	for what, c := range map[string]struct {
		change func(*awsclients.Endpoint)
		table  string
		write  bool
		want   string
	}{
		"a read that is allowed":  {func(*awsclients.Endpoint) {}, "table", false, "ResourceNotFoundException"},
		"a write that is not":     {func(*awsclients.Endpoint) {}, "table", true, "AccessDeniedException"},
		"another table":           {func(*awsclients.Endpoint) {}, "other", false, "AccessDeniedException"},
		"another secret":          {func(e *awsclients.Endpoint) { e.Secret += "!" }, "table", false, "InvalidSignatureException"},
		"another region":          {func(e *awsclients.Endpoint) { e.Region = "eu-west-1" }, "table", false, "ResourceNotFoundException"},
		"a key that nobody knows": {func(e *awsclients.Endpoint) { e.KeyID += "X" }, "table", false, "UnrecognizedClientException"},
	} {
		t.Run(what, func(t *testing.T) {
			as := e
			c.change(&as)
			var err error
			if c.write {
				_, err = client(as).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &c.table, Item: key(1)})
			} else {
				_, err = client(as).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &c.table, Key: key(1)})
			}
			api, ok := errors.AsType[smithy.APIError](err)
			if !ok || api.ErrorCode() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
