package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

// Bounds of what a query may say.
const (
	maxLimit  = 100
	maxCursor = 1024
	maxLeague = 64
)

// parseMatchFilter reads the query of a list of matches. Every parameter may stand there once; each thing that is
// wrong is told, all at once.
func parseMatchFilter(rawQuery string) (cricket.MatchFilter, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return cricket.MatchFilter{}, &invalidError{[]detail{{"query", "is not properly encoded"}}}
	}
	p := queryParser{values: values}
	f := cricket.MatchFilter{
		League: p.text("league", maxLeague),
		Status: p.oneOf("status", "upcoming", "live", "completed"),
		From:   p.instant("from", 0),
		To:     p.instant("to", 24*time.Hour-time.Millisecond),
		Limit:  p.number("limit", maxLimit),
		Cursor: p.text("cursor", maxCursor),
	}
	if !f.From.IsZero() && !f.To.IsZero() && f.To.Before(f.From) {
		p.bad("to", "lies before from")
	}
	if len(p.details) > 0 {
		return cricket.MatchFilter{}, &invalidError{p.details}
	}
	return f, nil
}

// queryParser reads parameters and collects what is wrong with them.
type queryParser struct {
	values  url.Values
	details []detail
}

func (p *queryParser) bad(field, format string, args ...any) {
	p.details = append(p.details, detail{field, fmt.Sprintf(format, args...)})
}

// one returns a parameter that may stand there once; an empty one counts as absent.
func (p *queryParser) one(name string) string {
	v := p.values[name]
	if len(v) == 0 {
		return ""
	}
	if len(v) > 1 {
		p.bad(name, "is given %d times", len(v))
		return ""
	}
	return v[0]
}

func (p *queryParser) text(name string, most int) string {
	v := p.one(name)
	if len(v) > most {
		p.bad(name, "is longer than %d bytes", most)
		return ""
	}
	for _, r := range v {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			p.bad(name, "has characters that cannot be in it")
			return ""
		}
	}
	return v
}

func (p *queryParser) oneOf(name string, allowed ...string) string {
	v := p.one(name)
	if v == "" || slices.Contains(allowed, v) {
		return v
	}
	p.bad(name, "must be one of %s", strings.Join(allowed, ", "))
	return ""
}

func (p *queryParser) number(name string, high int) int {
	v := p.one(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > high {
		p.bad(name, "must be a whole number from 1 to %d", high)
		return 0
	}
	return n
}

// instant reads a time (RFC 3339) or a day; rest is what a day means beyond its first instant.
func (p *queryParser) instant(name string, rest time.Duration) time.Time {
	v := p.one(name)
	if v == "" {
		return time.Time{}
	}
	if t, err := time.Parse(time.RFC3339, v); err == nil && t.Year() > 0 {
		return t.UTC()
	}
	if t, err := time.Parse(time.DateOnly, v); err == nil && t.Year() > 0 {
		return t.Add(rest)
	}
	p.bad(name, "must be a day (2019-07-14) or a time (2019-07-14T09:30:00Z)")
	return time.Time{}
}
