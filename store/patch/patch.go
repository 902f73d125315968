// Package patch changes single attributes of rows from JSON: fields in the body are set, null removes a nullable one, and the rest of the
// row stays as it is, even if others have changed it meanwhile.
package patch

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Input holds the fields of a request's body.
type Input = map[string]json.RawMessage

// Stamp is the format of stored times, which sort as text.
const Stamp = "2006-01-02T15:04:05.000Z"

// Field is a field that clients may set.
type Field struct {
	Read     func(raw json.RawMessage) (v attr.Value, wrong string) // the value to store, or what is wrong with it
	Nullable bool                                                   // null removes the attribute
	Blank    bool                                                   // with Nullable: "" removes it too
}

// Patch is a change of a row.
type Patch struct {
	Set    attr.Item
	Remove []string
}

// Read reads the known fields of a body and ignores others. An invalid or missing field is fault.Invalid.
func Read(fields map[string]Field, in Input, needed ...string) (p Patch, err error) {
	p.Set = attr.Item{}
	for _, name := range needed {
		if raw, ok := in[name]; !ok || string(raw) == "null" {
			return p, fault.New(fault.Invalid, "invalid", "%s is required", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		f, ok := fields[name]
		raw := in[name]
		switch {
		case !ok:
		case f.Nullable && (string(raw) == "null" || f.Blank && string(raw) == `""`):
			p.Remove = append(p.Remove, name)
		default:
			v, wrong := f.Read(raw)
			if wrong != "" {
				return p, fault.New(fault.Invalid, "invalid", "%s %s", name, wrong)
			}
			p.Set[name] = v
		}
	}
	return p, nil
}

// ReadSome is Read for a body that must change something.
func ReadSome(fields map[string]Field, in Input) (Patch, error) {
	p, err := Read(fields, in)
	if err == nil && p.Empty() {
		err = fault.New(fault.Invalid, "invalid", "No fields to update")
	}
	return p, err
}

// Empty reports whether a patch changes nothing.
func (p *Patch) Empty() bool { return len(p.Set)+len(p.Remove) == 0 }

// Update returns the write of a patch, under a condition.
func (p *Patch) Update(name string, k attr.Item, only table.If) *store.UpdateItem {
	u := table.Handle{Table: name}.Update(k, "", only).Update
	if u.Names == nil {
		u.Names = map[string]string{}
	}
	u.Values = attr.Item{}
	maps.Copy(u.Values, only.Values)
	var sets, gone []string
	for i, name := range slices.Sorted(maps.Keys(p.Set)) {
		n := strconv.Itoa(i)
		u.Names["#s"+n], u.Values[":s"+n] = name, p.Set[name]
		sets = append(sets, "#s"+n+" = :s"+n)
	}
	for i, name := range p.Remove {
		n := "#r" + strconv.Itoa(i)
		u.Names[n] = name
		gone = append(gone, n)
	}
	if len(sets) > 0 {
		u.Update = "SET " + strings.Join(sets, ", ")
	}
	if len(gone) > 0 {
		u.Update += " REMOVE " + strings.Join(gone, ", ")
	}
	return u
}

// Text reads a string with accept, which returns the string to store, or what is wrong.
func Text(accept func(v string) (string, string)) func(json.RawMessage) (attr.Value, string) {
	return func(raw json.RawMessage) (attr.Value, string) {
		var v *string
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return attr.Value{}, "must be a string"
		}
		kept, wrong := accept(*v)
		return attr.S(kept), wrong
	}
}

// UpTo accepts a string of up to most characters, without control characters.
func UpTo(most int) func(string) (string, string) {
	return func(v string) (string, string) {
		v = strings.TrimSpace(v)
		if utf8.RuneCountInString(v) > most || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", "must have at most " + strconv.Itoa(most) + " characters"
		}
		return v, ""
	}
}

// Matching accepts strings of least to most characters that match re, after shortening white space to single blanks. The length is not
// part of re because counted Unicode classes would compile to megabytes, at each start.
func Matching(re *regexp.Regexp, least, most int, wrong string) func(string) (string, string) {
	return func(v string) (string, string) {
		v = strings.Join(strings.Fields(v), " ")
		if n := utf8.RuneCountInString(v); n < least || n > most || !re.MatchString(v) {
			return "", wrong
		}
		return v, ""
	}
}

// OneOf accepts one of the given words, after applying shape.
func OneOf(shape func(string) string, all ...string) func(string) (string, string) {
	return func(v string) (string, string) {
		v = shape(v)
		if !slices.Contains(all, v) {
			return "", "must be one of " + strings.Join(all, ", ")
		}
		return v, ""
	}
}

// Whole reads an integer from low to high.
func Whole(low, high int64) func(json.RawMessage) (attr.Value, string) {
	return func(raw json.RawMessage) (attr.Value, string) {
		var n *int64
		if json.Unmarshal(raw, &n) != nil || n == nil || *n < low || *n > high {
			return attr.Value{}, "must be an integer from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
		}
		return attr.Int(*n), ""
	}
}

// Instant accepts an ISO 8601 time, and returns it in UTC with milliseconds.
func Instant(v string) (string, string) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, v); err == nil && at.Year() > 0 {
			return at.UTC().Format(Stamp), ""
		}
	}
	return "", "must be an ISO 8601 time"
}
