package poll

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The errors of many matches become a short text, in which each distinct one occurs once, whatever their order and number.
func TestErrorText(t *testing.T) {
	gone, refused := errors.New("no such match"), errors.New("answered 401")
	var many []error
	for i := range 10 {
		many = append(many, fmt.Errorf("match %d", i))
	}
	for want, errs := range map[string][]error{
		"no such match":               {gone, nil, gone, errors.Join(gone, gone)},
		"answered 401\nno such match": {gone, errors.Join(refused, gone)},
		"tick: no such match":         {fmt.Errorf("tick: %w", gone)},
		"match 0\nmatch 1\nmatch 2\nmatch 3\nmatch 4\nand others": many,
	} {
		if got := errorText(errors.Join(errs...)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A job that fails for an hour with alternating errors, as on a lost connection, is logged every ten minutes;
// the status has the last error. After a success the next failure is logged at once.
func TestFailingJobIsLoggedNowAndThen(t *testing.T) {
	var log bytes.Buffer
	p := &Poller{Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, jobs: map[string]JobStatus{}}
	j, now := &job{name: "seat"}, time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	for i := range 60 * 12 {
		p.finish(t.Context(), j, now.Add(time.Duration(i)*5*time.Second), fmt.Errorf("no route %d", i%2))
	}
	if got := strings.Count(log.String(), "level=ERROR"); got != 6 {
		t.Errorf("%d lines in an hour:\n%s", got, log.String())
	}
	if s := p.jobs["seat"]; s.LastError != "no route 1" || s.Failed != 720 {
		t.Errorf("the status is %+v", s)
	}
	p.finish(t.Context(), j, now.Add(time.Hour), nil)
	p.finish(t.Context(), j, now.Add(time.Hour+time.Second), errors.New("no route again"))
	if !strings.HasSuffix(strings.TrimSpace(log.String()), `err="no route again"`) {
		t.Errorf("a new failure is not logged:\n%s", log.String())
	}
}

// A different error that lasts is logged too, if late.
func TestLastingErrorIsLogged(t *testing.T) {
	var log bytes.Buffer
	p := &Poller{Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, jobs: map[string]JobStatus{}}
	j, now := &job{name: "seat"}, time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	p.finish(t.Context(), j, now, errors.New("no route"))
	for i := range 60 * 12 {
		p.finish(t.Context(), j, now.Add(time.Duration(i+1)*5*time.Second), errors.New("access denied"))
	}
	if got := strings.Count(log.String(), "access denied"); got != 1 {
		t.Errorf("%d lines in an hour:\n%s", got, log.String())
	}
}
