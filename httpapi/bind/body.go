// Package bind reads what a request carries: a JSON object, the parameters of a query, a cursor. Reading collects everything
// that is wrong, so that a client is told of all of it in one answer.
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

// Bounds of what a body may hold.
const (
	maxBody  = 64 << 10
	maxDepth = 16
)

// MaxID is the longest id that is looked up, in bytes.
const MaxID = 128

// Body is a request's JSON object. A known member must have its type. Reading it collects what is wrong, one entry a member; Err
// returns it.
type Body struct {
	problems

	members map[string]json.RawMessage
	strict  bool
	known   map[string]bool // members that were asked for
	unread  error           // why there is no object
}

// ReadBody reads the JSON object that a request carries. No body is an empty object, where that may be. Err reports what could not
// be read, and of a strict one members that nobody asked for; a tolerant one passes them over, so that a newer app can talk to an
// older node.
func ReadBody(c *gin.Context, strict bool) *Body {
	raw, err := Raw(c)
	if err != nil {
		return &Body{known: map[string]bool{}, unread: err}
	}
	return ParseBody(raw, strict)
}

// Raw reads what a request carries, up to 64 KiB.
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

// ParseBody reads the JSON object of a request that was read already.
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
		return badBody("has more after its first value")
	}
	if err := json.Unmarshal(raw, &b.members); err != nil {
		return badBody("must be a JSON object")
	}
	return nil
}

func badBody(format string, args ...any) error { return Invalid("body", format, args...) }

// walkValue sees that the next value is JSON whose objects have each name once: of two, one reader takes the first
// and the next the last.
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

// clip keeps what a client sent from filling the answer to it.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Get returns a member; a null counts as absent.
func (b *Body) Get(name string) (json.RawMessage, bool) {
	b.known[name] = true
	raw, ok := b.members[name]
	return raw, ok && string(raw) != "null"
}

// Members returns all members as they were sent, nulls too, for a reader to whom null says something.
func (b *Body) Members() (map[string]json.RawMessage, error) { return b.members, b.unread }

// Err returns everything that was wrong as an *Error; nil: nothing. Members that are read after it count as unknown.
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

// Need reads a member that must be there.
func Need[T comparable](b *Body, name string, read func(name string) T) T {
	before := len(b.details)
	v := read(name)
	var none T
	if v == none && len(b.details) == before {
		b.Bad(name, "is required")
	}
	return v
}

// Text reads a string of at most so many bytes without control characters. An empty one counts as absent.
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

// ID reads an id that is a string of at most so many bytes or a whole number; the empty string where it is absent.
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

// Number reads a number from low to high; usual where it is absent.
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

// Whole reads a whole number from 0 to high; usual where it is absent.
func (b *Body) Whole(name string, high int64, usual int64) int64 {
	v := b.Number(name, 0, float64(high), float64(usual))
	if v != math.Trunc(v) {
		b.Bad(name, "must be a whole number")
		return usual
	}
	return int64(v)
}

// Bool reads true or false; nil where it is absent.
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

// OneOf reads a string that must be one of a few; the empty string where it is absent.
func (b *Body) OneOf(name string, allowed ...string) string {
	v := b.Text(name, MaxID)
	if v != "" && !slices.Contains(allowed, v) {
		b.Bad(name, "must be one of %s", strings.Join(allowed, ", "))
		return ""
	}
	return v
}

// Texts reads a list of strings, each with something in it; nil where it is absent.
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
	for _, one := range v {
		if one == "" {
			b.Bad(name, "must not have an empty string in it")
			return nil
		}
		if !b.clean(name, one, most) {
			return nil
		}
	}
	return v
}

// Instant reads a time (RFC 3339); zero where it is absent.
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

// Change reads a member of a patch: nil where it is absent, so that what is not named stays.
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

// Patch returns what is wrong with a patch: it has to change something, and to leave a name.
func (b *Body) Patch(empty bool, name *string) error {
	if name != nil && *name == "" {
		b.Bad("name", "must not be empty")
	}
	if empty && len(b.details) == 0 {
		b.Bad("body", "names nothing to change")
	}
	return b.Err()
}
