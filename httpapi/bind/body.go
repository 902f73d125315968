// Package bind reads requests: JSON objects, query parameters and cursors. It collects all errors, so that the client gets them in one
// answer.
package bind

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
)

// Limits of a body.
const (
	maxBody  = 64 << 10
	maxDepth = 16
)

// MaxID is the longest id, in bytes.
const MaxID = 128

// Body is a request's JSON object. Known members must have the expected type. Errors are collected, at most one per member, and
// returned by Err.
type Body struct {
	problems

	members map[string]json.RawMessage
	strict  bool
	known   map[string]bool // members that the caller asked for
	unread  error           // why the object could not be read
}

// ReadBody reads a request's JSON object; a missing body is an empty object. Err reports errors, and in strict mode members that the
// caller did not ask for. Otherwise those are ignored, so that a newer app can talk to an older node.
func ReadBody(c *gin.Context, strict bool) *Body {
	raw, err := Raw(c)
	if err != nil {
		return &Body{known: map[string]bool{}, unread: err}
	}
	return ParseBody(raw, strict)
}

// Raw reads the request's body, up to 64 KiB.
func Raw(c *gin.Context) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fault.New(fault.TooLarge, "too_large", "The body is larger than %d bytes.", maxBody)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "validation", "The body did not arrive completely.")
	}
	return raw, nil
}

// ParseBody is ReadBody for a body that was read before.
func ParseBody(raw []byte, strict bool) *Body {
	b := &Body{members: map[string]json.RawMessage{}, strict: strict, known: map[string]bool{}}
	b.unread = b.parse(raw)
	return b
}

func (b *Body) parse(raw []byte) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if !utf8.Valid(raw) {
		return badBody("is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := walkValue(d, 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return badBody("has data after its first value")
	}
	if err := json.Unmarshal(raw, &b.members); err != nil {
		return badBody("must be a JSON object")
	}
	return nil
}

func badBody(format string, args ...any) error { return Invalid("body", format, args...) }

// walkValue checks that the next value is JSON and that object members are unique: of duplicates, one parser would take the first and
// another the last.
func walkValue(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil {
		return badBody("is not JSON")
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return badBody("is nested deeper than %d", maxDepth)
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return badBody("is not JSON")
			}
			text, _ := name.(string)
			if seen[text] {
				return Invalid(clip(text, 64), "is given twice")
			}
			seen[text] = true
		}
		if err := walkValue(d, depth+1); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return badBody("is not JSON")
	}
	return nil
}

// clip limits how much of a client's text the answer repeats.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Get returns a member. null counts as absent.
func (b *Body) Get(name string) (json.RawMessage, bool) {
	b.known[name] = true
	raw, ok := b.members[name]
	return raw, ok && string(raw) != "null"
}

// Members returns all members as sent, for callers to whom null differs from absent.
func (b *Body) Members() (map[string]json.RawMessage, error) { return b.members, b.unread }

// Err returns all errors as an *Error, or nil. Read all members before calling it: in strict mode the others are errors.
func (b *Body) Err() error {
	if b.unread != nil {
		return b.unread
	}
	if b.strict {
		for _, name := range slices.Sorted(maps.Keys(b.members)) {
			if !b.known[name] {
				b.Bad(clip(name, 64), "is not known here")
				b.known[name] = true
			}
		}
	}
	return b.problems.Err()
}

// Need reads a required member: read must not return the zero value.
func Need[T comparable](b *Body, name string, read func(name string) T) T {
	before := len(b.details)
	v := read(name)
	var none T
	if v == none && len(b.details) == before {
		b.Bad(name, "is required")
	}
	return v
}

// Text reads a string of up to most bytes without control characters. The empty string counts as absent.
func (b *Body) Text(name string, most int) string {
	raw, ok := b.Get(name)
	if !ok {
		return ""
	}
	var v string
	if json.Unmarshal(raw, &v) != nil {
		b.Bad(name, "must be a string")
		return ""
	}
	if !b.clean(name, v, most) {
		return ""
	}
	return v
}

func (b *Body) clean(name, v string, most int) bool {
	if len(v) > most {
		b.Bad(name, "is longer than %d bytes", most)
		return false
	}
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		b.Bad(name, "has control characters")
		return false
	}
	return true
}

// ID reads an id, a string of up to most bytes or a positive whole number. If absent it returns the empty string.
func (b *Body) ID(name string, most int) string {
	raw, ok := b.Get(name)
	if !ok {
		return ""
	}
	if raw[0] != '"' {
		var n int64
		if json.Unmarshal(raw, &n) != nil || n < 1 {
			b.Bad(name, "must be an id: a string or a whole number")
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return b.Text(name, most)
}

// Number reads a number from low to high. If absent it returns usual.
func (b *Body) Number(name string, low, high, usual float64) float64 {
	raw, ok := b.Get(name)
	if !ok {
		return usual
	}
	var v float64
	if json.Unmarshal(raw, &v) != nil || v < low || v > high {
		b.Bad(name, "must be a number from %v to %v", low, high)
		return usual
	}
	return v
}

// Whole reads a whole number from 0 to high. If absent it returns usual.
func (b *Body) Whole(name string, high int64, usual int64) int64 {
	v := b.Number(name, 0, float64(high), float64(usual))
	if v != math.Trunc(v) {
		b.Bad(name, "must be a whole number")
		return usual
	}
	return int64(v)
}

// Bool reads true or false; nil: absent.
func (b *Body) Bool(name string) *bool {
	raw, ok := b.Get(name)
	if !ok {
		return nil
	}
	var v bool
	if json.Unmarshal(raw, &v) != nil {
		b.Bad(name, "must be true or false")
		return nil
	}
	return &v
}

// OneOf reads a string that must be one of those allowed. If absent it returns the empty string.
func (b *Body) OneOf(name string, allowed ...string) string {
	v := b.Text(name, MaxID)
	if v != "" && !slices.Contains(allowed, v) {
		b.Bad(name, "must be one of %s", strings.Join(allowed, ", "))
		return ""
	}
	return v
}

// Texts reads a list of 1 to many non-empty strings of up to most bytes; nil: absent.
func (b *Body) Texts(name string, many, most int) []string {
	raw, ok := b.Get(name)
	if !ok {
		return nil
	}
	var v []string
	if json.Unmarshal(raw, &v) != nil || len(v) == 0 || len(v) > many {
		b.Bad(name, "must be a list of 1 to %d strings", many)
		return nil
	}
	for _, text := range v {
		if text == "" {
			b.Bad(name, "must not contain an empty string")
			return nil
		}
		if !b.clean(name, text, most) {
			return nil
		}
	}
	return v
}

// Instant reads a time (RFC 3339). If absent it returns the zero time.
func (b *Body) Instant(name string) time.Time {
	v := b.Text(name, MaxID)
	if v == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil || t.Year() < 1 {
		b.Bad(name, "must be a time (2019-07-14T09:30:00Z)")
		return time.Time{}
	}
	return t.UTC()
}

// Change reads a string member of a patch; nil: absent, so the field stays as it is.
func (b *Body) Change(name string, most int) *string {
	if _, ok := b.Get(name); !ok {
		return nil
	}
	before := len(b.details)
	v := b.Text(name, most)
	if len(b.details) > before {
		return nil
	}
	return &v
}

// Patch returns the errors of a patch, which must change something (empty: it does not) and must not empty a name.
func (b *Body) Patch(empty bool, name *string) error {
	if name != nil && *name == "" {
		b.Bad("name", "must not be empty")
	}
	if empty && len(b.details) == 0 {
		b.Bad("body", "names nothing to change")
	}
	return b.Err()
}
