package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	maxAppBody = 64 << 10
	maxDepth   = 16
	maxToken   = 200 // hex digits of a device's token
	maxID      = 128 // a user's or device's id
)

// body is a request's JSON object. Members that nobody knows are passed over, so that a newer app can talk to an older
// node; a known one must have its type. Reading it collects what is wrong, one entry a member.
type body struct {
	members map[string]json.RawMessage
	details []detail
}

// readBody reads the JSON object that a request carries. No body is an empty object, where that may be.
func readBody(c *gin.Context) (*body, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxAppBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fault.New(fault.TooLarge, "too_large", "The body is larger than %d bytes.", maxAppBody)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "validation", "The body did not arrive completely.")
	}
	return parseBody(raw)
}

func parseBody(raw []byte) (*body, error) {
	b := &body{members: map[string]json.RawMessage{}}
	if len(bytes.TrimSpace(raw)) == 0 {
		return b, nil
	}
	if !utf8.Valid(raw) {
		return nil, badBody("is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := walkValue(d, 0); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, badBody("has more after its first value")
	}
	if err := json.Unmarshal(raw, &b.members); err != nil {
		return nil, badBody("must be a JSON object")
	}
	return b, nil
}

func badBody(format string, args ...any) error {
	return &invalidError{[]detail{{"body", fmt.Sprintf(format, args...)}}}
}

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
				return &invalidError{[]detail{{clip(text, 64), "is given twice"}}}
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

func (b *body) bad(field, format string, args ...any) {
	b.details = append(b.details, detail{field, fmt.Sprintf(format, args...)})
}

// err returns everything that was wrong.
func (b *body) err() error {
	if len(b.details) > 0 {
		return &invalidError{b.details}
	}
	return nil
}

// get returns a member; a null counts as absent.
func (b *body) get(name string) (json.RawMessage, bool) {
	raw, ok := b.members[name]
	return raw, ok && string(raw) != "null"
}

// need reads a member that must be there.
func need[T comparable](b *body, name string, read func(name string) T) T {
	before := len(b.details)
	v := read(name)
	var none T
	if v == none && len(b.details) == before {
		b.bad(name, "is required")
	}
	return v
}

// text reads a string of at most so many bytes without control characters. An empty one counts as absent.
func (b *body) text(name string, most int) string {
	raw, ok := b.get(name)
	if !ok {
		return ""
	}
	var v string
	if json.Unmarshal(raw, &v) != nil {
		b.bad(name, "must be a string")
		return ""
	}
	if !b.clean(name, v, most) {
		return ""
	}
	return v
}

func (b *body) clean(name, v string, most int) bool {
	if len(v) > most {
		b.bad(name, "is longer than %d bytes", most)
		return false
	}
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		b.bad(name, "has control characters")
		return false
	}
	return true
}

// token reads a token of Apple's in hexadecimal digits, made lower case; the empty string where it is absent.
func (b *body) token(name string) string {
	v := b.text(name, 2*maxToken)
	const digits = "0123456789abcdefABCDEF"
	if v != "" && (len(v) < 64 || len(v) > maxToken || len(v)%2 != 0 || strings.Trim(v, digits) != "") {
		b.bad(name, "must be 64 to %d hexadecimal digits", maxToken)
		return ""
	}
	return strings.ToLower(v)
}

// id reads an id that the feed gave: a string of at most maxMatchID bytes, or a whole number.
func (b *body) id(name string) string {
	raw, ok := b.get(name)
	if !ok {
		return ""
	}
	if raw[0] != '"' {
		var n int64
		if json.Unmarshal(raw, &n) != nil || n < 1 {
			b.bad(name, "must be an id: a string or a whole number")
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return b.text(name, maxMatchID)
}

// team reads a team's id; 0 where it is absent.
func (b *body) team(name string) int64 {
	text := b.id(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		b.bad(name, "must be a team's id: a whole number, or one in a string")
		return 0
	}
	return n
}

// number reads a number from low to high; usual where it is absent.
func (b *body) number(name string, low, high, usual float64) float64 {
	raw, ok := b.get(name)
	if !ok {
		return usual
	}
	var v float64
	if json.Unmarshal(raw, &v) != nil || v < low || v > high {
		b.bad(name, "must be a number from %v to %v", low, high)
		return usual
	}
	return v
}

// whole reads a whole number from 0 to high; usual where it is absent.
func (b *body) whole(name string, high int64, usual int64) int64 {
	v := b.number(name, 0, float64(high), float64(usual))
	if v != math.Trunc(v) {
		b.bad(name, "must be a whole number")
		return usual
	}
	return int64(v)
}

// truth reads true or false; nil where it is absent.
func (b *body) truth(name string) *bool {
	raw, ok := b.get(name)
	if !ok {
		return nil
	}
	var v bool
	if json.Unmarshal(raw, &v) != nil {
		b.bad(name, "must be true or false")
		return nil
	}
	return &v
}

// oneOf reads a string that must be one of a few; the empty string where it is absent.
func (b *body) oneOf(name string, allowed ...string) string {
	v := b.text(name, maxID)
	if v != "" && !slices.Contains(allowed, v) {
		b.bad(name, "must be one of %s", strings.Join(allowed, ", "))
		return ""
	}
	return v
}

// texts reads a list of strings, each with something in it; nil where it is absent.
func (b *body) texts(name string, many, most int) []string {
	raw, ok := b.get(name)
	if !ok {
		return nil
	}
	var v []string
	if json.Unmarshal(raw, &v) != nil || len(v) == 0 || len(v) > many {
		b.bad(name, "must be a list of 1 to %d strings", many)
		return nil
	}
	for _, one := range v {
		if one == "" {
			b.bad(name, "must not have an empty string in it")
			return nil
		}
		if !b.clean(name, one, most) {
			return nil
		}
	}
	return v
}

// instant reads a time (RFC 3339); zero where it is absent.
func (b *body) instant(name string) time.Time {
	v := b.text(name, maxID)
	if v == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil || t.Year() < 1 {
		b.bad(name, "must be a time (2019-07-14T09:30:00Z)")
		return time.Time{}
	}
	return t.UTC()
}
