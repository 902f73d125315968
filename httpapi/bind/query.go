package bind

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Query reads query parameters and collects their errors.
type Query struct {
	problems

	values url.Values
}

// Parameters returns the query parameters of a request. Wrongly encoded ones are ignored.
func Parameters(r *http.Request) *Query { return NewQuery(r.URL.Query()) }

// NewQuery returns a Query of decoded parameters.
func NewQuery(values url.Values) *Query { return &Query{values: values} }

// one returns a parameter that must not be repeated. An empty one counts as absent.
func (p *Query) one(name string) string {
	v := p.values[name]
	if len(v) == 0 {
		return ""
	}
	if len(v) > 1 {
		p.Bad(name, "is given %d times", len(v))
		return ""
	}
	return v[0]
}

// Text reads a string of up to most bytes without control characters. If absent it returns the empty string.
func (p *Query) Text(name string, most int) string {
	v := p.one(name)
	if len(v) > most {
		p.Bad(name, "is longer than %d bytes", most)
		return ""
	}
	for _, r := range v {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			p.Bad(name, "has invalid characters")
			return ""
		}
	}
	return v
}

// OneOf reads a string that must be one of those allowed. If absent it returns the empty string.
func (p *Query) OneOf(name string, allowed ...string) string {
	v := p.one(name)
	if v == "" || slices.Contains(allowed, v) {
		return v
	}
	p.Bad(name, "must be one of %s", strings.Join(allowed, ", "))
	return ""
}

// Number reads a whole number from 1 to high. If absent it returns 0.
func (p *Query) Number(name string, high int) int {
	v := p.one(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > high {
		p.Bad(name, "must be a whole number from 1 to %d", high)
		return 0
	}
	return n
}

// Instant reads a time (RFC 3339) or a day. For a day it returns midnight UTC plus rest, so that an upper limit can include the whole
// day.
func (p *Query) Instant(name string, rest time.Duration) time.Time {
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
	p.Bad(name, "must be a day (2019-07-14) or a time (2019-07-14T09:30:00Z)")
	return time.Time{}
}
