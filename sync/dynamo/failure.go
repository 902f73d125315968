package dynamo

import (
	"fmt"
	"strings"
	"time"
)

// CallError is what the cloud, or the way to it, answered instead of success. It is what an *intent.Error of this package
// wraps: enough to say what happened, and nothing that is secret.
type CallError struct {
	Operation string        // "UpdateItem"
	Code      string        // DynamoDB's own; empty: it was none of its answers
	Message   string        // DynamoDB's own, table names as the node has them
	RequestID string        // for AWS's support
	Status    int           // of HTTP; 0: there was no answer
	After     time.Duration // how long it took
	Err       error         // of the network; nil where DynamoDB answered

	away bool
}

// Error is one line.
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

// Unwrap returns the error of the network.
func (f *CallError) Unwrap() error { return f.Err }

// Offline reports whether the way to the cloud is judged to be gone, though the request may have been carried out:
// nothing answered in time, the connection broke, or somebody else answered. Who sends many requests tries one first.
func (f *CallError) Offline() bool { return f.away }

// firstLine cuts a text for people at its first line and 300 bytes.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	return text
}
