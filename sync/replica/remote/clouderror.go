package remote

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/touchline/touchline/sync/replica/intent"
)

// ErrStopped is the error of every connect of a node that runs twice: neither copy sends any more.
var ErrStopped = errors.New("two copies of this node are running, and neither sends")

// WhyOtherKeys begins the reason of a table stopped because its keys in the cloud differ from the declared ones.
const WhyOtherKeys = "its keys in the cloud differ"

// ErrOtherKeys says why such a table is not read.
var ErrOtherKeys = errors.New(WhyOtherKeys)

// AsUnreached reports whether an error means that the way to the cloud is gone, and returns it as an *intent.Error. The request may have
// been carried out all the same: nothing answered in time, the connection broke, or something else answered. In that case the
// error's cause says so.
func AsUnreached(err error) (*intent.Error, bool) {
	e, ok := errors.AsType[*intent.Error](err)
	if !ok || e == nil {
		return nil, false
	}
	cause, ok := errors.AsType[interface {
		error
		Offline() bool
	}](e.Err)
	return e, e.Class == intent.Offline || ok && cause.Offline()
}

// ClassOf returns the class of a cloud error; Unknown for any other error.
func ClassOf(err error) intent.Class {
	if e, ok := errors.AsType[*intent.Error](err); ok {
		return e.Class
	}
	return intent.Unknown
}

// ErrorText returns the text of a cloud error without repetitions: its class once, and the request. Of wrapped errors that each state
// their class, the innermost counts.
func ErrorText(err error) string {
	if errors.Is(err, ErrStopped) {
		return ErrStopped.Error()
	}
	var last *intent.Error
	for at := err; at != nil; {
		e, ok := errors.AsType[*intent.Error](at)
		if !ok || e == nil {
			break
		}
		last, at = e, e.Err
	}
	if last == nil {
		return err.Error()
	}
	return FirstLine(last.Error())
}

// FirstLine returns the first line of a text, cut to what a person reads.
func FirstLine(text string) string {
	const most = 400 // room for an ARN, which names the table at its end
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// AsError returns a Cloud's error unchanged, and any other error as Unknown.
func AsError(err error) *intent.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*intent.Error](err); ok {
		return e
	}
	return &intent.Error{Class: intent.Unknown, Err: err}
}

// Complain logs a failure outside the workers. Errors that only say that the cloud is away are logged elsewhere.
func Complain(log *slog.Logger, doing string, err error) {
	if _, gone := AsUnreached(err); gone || errors.Is(err, context.Canceled) {
		return
	}
	log.Warn("replica: "+doing+" failed", "err", err)
}
