package dynamo

import (
	"fmt"
	"strings"
	"time"
)

// CallError is what the cloud, or the network on the way to it, answered instead of success. The *intent.Error values of this package
// wrap it. It says what happened and contains nothing secret.
type CallError struct {
	Operation string        // "UpdateItem"
	Code      string        // DynamoDB's own; "": the answer was not DynamoDB's
	Message   string        // DynamoDB's own, with the node's table names
	RequestID string        // for AWS support
	Status    int           // HTTP status; 0: no answer
	After     time.Duration // how long the call took
	Err       error         // of the network; nil if DynamoDB answered

	away bool
}

// Error returns the error as one line.
func (f *CallError) Error() string {
	var b strings.Builder
	b.WriteString(f.Operation)
	b.WriteString(": ")
	switch {
	case f.Code != "" && f.Message != "":
		b.WriteString(f.Code + ": " + f.Message)
	case f.Code != "":
		b.WriteString(f.Code)
	case f.Err != nil:
		b.WriteString(f.Err.Error())
	default:
		fmt.Fprintf(&b, "status %d", f.Status)
	}
	if f.RequestID != "" {
		b.WriteString(" (request " + f.RequestID + ")")
	}
	return b.String()
}

// Unwrap returns the network error.
func (f *CallError) Unwrap() error { return f.Err }

// Offline reports whether the way to the cloud is considered gone, although the request may have been carried out: nothing answered
// in time, the connection broke, or something else answered. Before sending many requests, send one and see.
func (f *CallError) Offline() bool { return f.away }

// firstLine cuts a text for people after its first line or 300 bytes.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	return text
}
