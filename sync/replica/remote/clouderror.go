package remote

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/touchline/touchline/sync/replica/intent"
)

// ErrStopped is the cause of every connect of a node of which two copies run: nothing is sent any more, by either.
var ErrStopped = errors.New("two copies of this node are running, and neither sends")

// WhyOtherKeys begins why a table is stopped whose keys in the cloud are not those that are declared here.
const WhyOtherKeys = "its keys in the cloud are others"

// ErrOtherKeys is why such a table is not read.
var ErrOtherKeys = errors.New(WhyOtherKeys)

// Unreached reports whether an error says that the way to the cloud is gone, and returns it as the cloud's. That may also
// be so where nobody knows whether the request was carried out: nothing answered in time, the connection broke, somebody
// else answered. The error's cause says it then.
func Unreached(err error) (*intent.Error, bool) {
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

// ClassOf is the class of a cloud's error; Unknown of any other.
func ClassOf(err error) intent.Class {
	if e, ok := errors.AsType[*intent.Error](err); ok {
		return e.Class
	}
	return intent.Unknown
}

// ErrorText is an error of the cloud without what is said of it anyway: its class once, and what was asked. Errors that
// others have wrapped, of which each tells its class, are said by the innermost.
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
	return Shortened(last.Error())
}

// Shortened keeps a line of a text, and of that what a person reads.
func Shortened(text string) string {
	const most = 400 // room for an ARN: which table it is stands at its end
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// AsError has an error of a Cloud as what it is, and any other as what nobody knows.
func AsError(err error) *intent.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*intent.Error](err); ok {
		return e
	}
	return &intent.Error{Class: intent.Unknown, Err: err}
}

// Complain logs what went wrong beside the lanes. What only says that the cloud is away is said elsewhere.
func Complain(log *slog.Logger, doing string, err error) {
	if _, gone := Unreached(err); gone || errors.Is(err, context.Canceled) {
		return
	}
	log.Warn("replica: "+doing+" failed", "err", err)
}
