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

// small makes Java start fast and use few resources.
var small = []string{"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// Server is a DynamoDB Local with its tables in memory. Its methods may be called from any goroutine.
type Server struct {
	Addr   string // host:port
	URL    string // "http://127.0.0.1:20000"
	Client *http.Client
}

// Start runs a DynamoDB Local until the test or its process ends. Without Java or Maven, or if Maven cannot download it, the test is
// skipped with a message that says what to install.
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
		Addr: i.Addr, URL: "http://" + i.Addr,
		Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}, Timeout: time.Minute},
	}
	t.Cleanup(s.Client.CloseIdleConnections)
	// The first request opens the database. On a busy machine that takes longer than a node waits for an answer.
	if _, err := s.Do(t.Context(), "ListTables", []byte("{}")); err != nil {
		t.Fatalf("DynamoDB Local does not answer: %v", err)
	}
	return s
}

// Do sends a request in DynamoDB's JSON and returns the answer. What DynamoDB refuses is an *Error.
func (s *Server) Do(ctx context.Context, operation string, request []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	// The signature is not verified, but the key id and region matter.
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

// Error is a refusal of DynamoDB.
type Error struct {
	Body []byte // the JSON body: __type, message and fields of that type
}

// Error returns the exception's name and message.
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
