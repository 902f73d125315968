//go:build long

package awsclients_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/touchline/touchline/internal/testrig/awsclients"
	"github.com/touchline/touchline/store/storetest/conformance"
)

// TestConformanceThroughSDK sends the recorded requests with aws-sdk-go-v2: each is converted to the client's own types and goes over
// HTTP, and its answer is converted back. Requests that the client cannot send, for example without a table's name, are sent as they are
// written.
func TestConformanceThroughSDK(t *testing.T) {
	var seen tally
	if *against == "local" {
		e := endpoint(t)
		conformance.Run(t, conformance.Local, func(t testing.TB) conformance.Target {
			target := newTarget(e, &seen)
			target.empty(t)
			return target
		})
	} else {
		conformance.Run(t, conformance.Ours, func(t testing.TB) conformance.Target { return newTarget(endpoint(t), &seen) })
	}
	t.Log(seen.String())
	if seen.carried < 9*len(seen.written) {
		t.Errorf("the client carried %d requests and could not say %d", seen.carried, len(seen.written))
	}
}

// tally counts the requests sent by the client, and keeps those that it could not send.
type tally struct {
	mu      sync.Mutex
	carried int
	written []string
}

func (s *tally) add(operation string, request []byte, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why == nil {
		s.carried++
		return
	}
	text := string(request[:min(len(request), 160)])
	s.written = append(s.written, fmt.Sprintf("%s %s: %s", operation, text, strings.ReplaceAll(why.Error(), "\n", " ")))
}

// String returns the requests that the client could not send.
func (s *tally) String() string {
	slices.Sort(s.written)
	return fmt.Sprintf("%d requests through the client; %d that it cannot say were sent as they are written:\n%s",
		s.carried, len(s.written), strings.Join(slices.Compact(s.written), "\n"))
}

// target is a conformance.Target that uses the client.
type target struct {
	endpoint awsclients.Endpoint
	client   reflect.Value
	seen     *tally
}

func newTarget(e awsclients.Endpoint, seen *tally) *target {
	c := client(e, func(o *dynamodb.Options) { o.HTTPClient = exactly{web()} })
	return &target{endpoint: e, client: reflect.ValueOf(c), seen: seen}
}

// empty deletes all tables.
func (x *target) empty(t testing.TB) {
	t.Helper()
	c := client(x.endpoint)
	pages := dynamodb.NewListTablesPaginator(c, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range page.TableNames {
			if _, err := c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Do implements conformance.Target.
func (x *target) Do(ctx context.Context, operation string, request []byte) ([]byte, error) {
	answer, err := x.say(ctx, operation, request)
	unsaid, ok := errors.AsType[*unsaidError](err)
	if !ok {
		x.seen.add(operation, request, nil)
		return answer, err
	}
	x.seen.add(operation, request, unsaid)
	return x.write(ctx, operation, request)
}

// unsaidError is the reason why the client cannot send a request as it is written.
type unsaidError struct{ why string }

// Error returns the reason.
func (e *unsaidError) Error() string { return e.why }

// refused is a refusal of the service, with its body.
type refused struct{ body []byte }

// Error returns the body.
func (e *refused) Error() string { return string(e.body) }

// Wire returns the body.
func (e *refused) Wire() []byte { return e.body }

// say calls the client's method.
func (x *target) say(ctx context.Context, operation string, request []byte) ([]byte, error) {
	method := x.client.MethodByName(operation)
	if !method.IsValid() {
		return nil, &unsaidError{"no such method"}
	}
	want, err := decode(request)
	if err != nil {
		return nil, &unsaidError{err.Error()}
	}
	input := reflect.New(method.Type().In(1).Elem())
	if err := read(want, input.Elem()); err != nil {
		return nil, err
	}
	out := method.Call([]reflect.Value{reflect.ValueOf(context.WithValue(ctx, wanted{}, want)), input})
	if err, ok := reflect.TypeAssert[error](out[1]); ok {
		return nil, failure(err)
	}
	return json.Marshal(written(out[0].Elem()))
}

// failure converts an error of the client to what the service sent.
func failure(err error) error {
	if invalid, ok := errors.AsType[smithy.InvalidParamsError](err); ok {
		return &unsaidError{invalid.Error()}
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	body := map[string]any{}
	if v := reflect.ValueOf(api); v.Elem().Kind() == reflect.Struct && v.Elem().Type() != reflect.TypeFor[smithy.GenericAPIError]() {
		body = written(v.Elem()).(map[string]any)
	}
	for _, own := range []string{"ErrorCodeOverride", "Message"} {
		delete(body, own)
	}
	body["__type"], body["message"] = api.ErrorCode(), api.ErrorMessage()
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return &refused{data}
}

// wanted is the context key of a request's JSON.
type wanted struct{}

// exactly verifies that requests have the wanted content and answers the right checksum.
type exactly struct{ next *http.Client }

// Do implements dynamodb.HTTPClient.
func (x exactly) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	got, err := decode(body)
	if err != nil {
		return nil, err
	}
	want, _ := r.Context().Value(wanted{}).(map[string]any)
	if want["ClientRequestToken"] == nil {
		delete(got, "ClientRequestToken") // made up by the client
	}
	if !reflect.DeepEqual(got, want) {
		return nil, &unsaidError{"the client would say " + string(body[:min(len(body), 160)])}
	}
	resp, err := x.next.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	// The client computes this sum too, but does not report it. DynamoDB Local sends none with a refusal.
	got32, want32 := resp.Header.Get("X-Amz-Crc32"), strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)
	if got32 != want32 && (got32 != "" || *against != "local") {
		return nil, fmt.Errorf("the checksum of the answer is %s, want %s", got32, want32)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// write sends a request as it is written.
func (x *target) write(ctx context.Context, operation string, request []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.endpoint.URL, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	sum := sha256.Sum256(request)
	who := aws.Credentials{AccessKeyID: x.endpoint.KeyID, SecretAccessKey: x.endpoint.Secret}
	err = signer.NewSigner().SignHTTP(ctx, who, r, hex.EncodeToString(sum[:]), "dynamodb", x.endpoint.Region, time.Now())
	if err != nil {
		return nil, err
	}
	resp, err := web().Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &refused{body}
	}
	return body, err
}

// decode parses a JSON object and keeps the spelling of its numbers.
func decode(data []byte) (out map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return out, d.Decode(&out)
}
