package dynamo

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/touchline/touchline/sync/replica/intent"
)

// classify turns an SDK error into what it says about the call. Nothing else decides that.
func (c *Client) classify(op string, tables []string, x *exchange, took time.Duration, err error) *intent.Error {
	f := &CallError{Operation: op, After: took}
	if resp, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		f.Status = resp.HTTPStatusCode()
	}
	if resp, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		f.RequestID = resp.ServiceRequestID()
	}
	out := &intent.Error{Err: f}
	api, answered := errors.AsType[smithy.APIError](err)
	switch {
	case x.stranger != nil:
		// The request may have passed through the stranger all the same, or the connection may have been its own from the first byte.
		f.Err, f.away = x.stranger, true
		out.Class = intent.Unknown
	case answered:
		f.Code = api.ErrorCode()
		out.Class = classOf(f.Code, api.ErrorMessage())
		f.Message = c.message(out.Class, tables, api.ErrorMessage())
		c.details(out, f, err)
	case errors.Is(err, context.Canceled):
		// The caller has given up. That says nothing about the network or the credentials.
		f.Err = unsecret(err)
		out.Class = intent.Unknown
	case !x.asked:
		f.Err = unsecret(err)
		out.Class = c.classifyUnsent(f, err)
	case x.mayBeSent():
		f.Err = unsecret(err)
		f.away = f.Status == 0 && isNetworkError(err)
		out.Class = intent.Unknown
	default:
		f.Err, f.away = unsecret(err), true
		out.Class = intent.Offline
	}
	if out.Class == intent.Credentials {
		c.renew()
	}
	return out
}

// classifyUnsent classifies errors that occurred before there was a request to send.
func (c *Client) classifyUnsent(f *CallError, err error) intent.Class {
	if _, ok := errors.AsType[*smithy.InvalidParamsError](err); ok {
		return intent.Validation
	}
	if _, ok := errors.AsType[*smithy.SerializationError](err); ok {
		return intent.Validation
	}
	if isNetworkError(err) {
		// Credentials may have to be fetched too, and their service cannot be reached.
		f.away = true
		return intent.Offline
	}
	if strings.Contains(err.Error(), "no EC2 IMDS role found") { // from the last place where the SDK looks
		f.Err = errors.New("no credentials were found in the environment, a profile or a role")
	}
	return intent.Credentials
}

// isNetworkError reports whether an error comes from the network or from waiting for it.
func isNetworkError(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return true
	}
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// details copies what an answer contains besides its code.
func (c *Client) details(out *intent.Error, f *CallError, err error) {
	switch out.Class {
	case intent.ConditionFailed:
		if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
			out.Old, err = fromItem(failed.Item)
			if err != nil {
				out.Class, f.Err = intent.Unknown, err
			}
		}
	case intent.Canceled:
		c.reasons(out, f, err)
	}
}

// reasons reads why a transaction was canceled. If no reasons were sent we cannot know which item is in the way. The transaction
// was not carried out, so it counts as throttled.
func (c *Client) reasons(out *intent.Error, f *CallError, err error) {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || len(canceled.CancellationReasons) == 0 {
		out.Class = intent.Throttled
		return
	}
	out.Reasons = make([]intent.Reason, len(canceled.CancellationReasons))
	for i, r := range canceled.CancellationReasons {
		reason := &out.Reasons[i]
		reason.Message = text(r.Message)
		reason.Class = reasonOf(text(r.Code), reason.Message)
		if reason.Class != intent.ConditionFailed {
			continue
		}
		if reason.Old, err = fromItem(r.Item); err != nil {
			reason.Class, f.Err = intent.Unknown, err
		}
	}
}

// reasonOf classifies the code of a cancellation reason, which is not always spelled like an answer's code.
func reasonOf(code, message string) intent.Class {
	if code == "None" || code == "" {
		return intent.Applied
	}
	return classOf(code, message)
}

// message returns DynamoDB's own text without table prefixes. For a wrong signature DynamoDB quotes everything that was signed,
// including the session token; of that text only the beginning is kept.
func (c *Client) message(class intent.Class, tables []string, message string) string {
	if message == "UnknownError" {
		return "" // what the SDK says for no message
	}
	if class == intent.Credentials {
		message, _, _ = strings.Cut(firstLine(message), " The Canonical String")
	}
	if c.prefix == "" {
		return message
	}
	for _, t := range tables {
		message = strings.ReplaceAll(message, c.prefix+t, t)
	}
	return message
}

// unsecret keeps only the network part of an SDK error: the outer layers repeat requests and profiles.
func unsecret(err error) error {
	if n, ok := errors.AsType[*net.OpError](err); ok {
		return n
	}
	if n, ok := errors.AsType[*net.DNSError](err); ok {
		return n
	}
	for _, known := range []error{context.DeadlineExceeded, context.Canceled, io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New(firstLine(err.Error()))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
