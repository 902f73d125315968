package ddblocal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// small has Java start fast and stay out of the way of tests.
var small = []string{"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// Server is a DynamoDB Local that holds its tables in memory. Its methods may be called from any goroutine.
type Server struct {
	URL    string       // where it answers, to Client only
	Client *http.Client // reaches it, also in a namespace of its own
}

// Start runs a DynamoDB Local until the test ends; it also ends when the process of the test does. Where Java or Maven
// is missing, or Maven finds nothing to download, the test is skipped and says what to install.
func Start(t testing.TB) *Server {
	t.Helper()
	i, err := start(t.Context(), small, "-inMemory")
	if why, ok := errors.AsType[lacking](err); ok {
		t.Skip(why.error)
	}
	if err != nil {
		t.Fatalf("start DynamoDB Local: %v", err)
	}
	t.Cleanup(i.Kill)
	s := &Server{
		URL: "http://" + i.Addr + "/",
		Client: &http.Client{
			Transport: &http.Transport{DialContext: i.Dial, MaxIdleConnsPerHost: 8},
			Timeout:   time.Minute,
		},
	}
	t.Cleanup(s.Client.CloseIdleConnections)
	return s
}

// Do sends a request, DynamoDB's JSON, and returns the answer. What DynamoDB refuses is an *Error.
func (s *Server) Do(ctx context.Context, operation string, request []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	// The signature is not looked at; who signs and for which region is.
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 "+
		"Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := s.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &Error{Body: body}
	}
	return body, nil
}

// Error is a refusal.
type Error struct {
	Body []byte // as DynamoDB sent it: JSON with __type, the message and what belongs to that type
}

// Error returns the name and the message.
func (e *Error) Error() string {
	var b struct {
		Type    string `json:"__type"`
		Message string
	}
	if json.Unmarshal(e.Body, &b) != nil {
		return string(e.Body)
	}
	return b.Type[strings.LastIndexByte(b.Type, '#')+1:] + ": " + b.Message
}

// Wire returns the body of the refusal.
func (e *Error) Wire() []byte { return e.Body }
