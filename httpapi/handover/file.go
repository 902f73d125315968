package handover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
)

// A page saves what it could not send as a file, which somebody else gives to a node. docs/http.md has the format for people.
const (
	fileFormat  = "touchline-entries"
	fileVersion = 1

	MaxFile    = 1_000_000 // bytes
	MaxEntries = 500       // as many as a page's queue holds

	maxEntryBody = 16 << 10
	maxEntryPath = 1024
	maxEntryKey  = 128
	makerDigits  = 16
	latestAt     = 4_102_444_800_000 // Unix ms: the year 2100
	mostAhead    = 3.2e11            // ms: ten years
)

// Entry is a request of a page that was not sent, or to which no answer came.
type Entry struct {
	Key    string // its Idempotency-Key
	Device string // hash of the device under which the key counts
	Maker  string // pseudonym of who made it (httpapi.App); empty: nobody was signed in
	Method string
	Path   string
	Body   string // JSON
	At     int64  // when it was made, by the device's clock; Unix ms
	// Ahead is by how much the node's clock was ahead of the device's then, in ms from and to; nil: unknown.
	Ahead *[2]float64
}

// Made returns when the entry was made: by a node's clock, if the device knew how far it is ahead.
func (e *Entry) Made() time.Time {
	at := float64(e.At)
	if e.Ahead != nil {
		at += (e.Ahead[0] + e.Ahead[1]) / 2
	}
	return time.UnixMilli(int64(math.Round(at)))
}

// File holds entries of one application's pages.
type File struct {
	Scope   string // address of the application's pages: "/3fc/-/"
	Entries []Entry
}

// ParseFile reads a file. The error says what is wrong without repeating anything of the file. Whether a path can be used is not checked:
// see Entry.CheckPath.
func ParseFile(raw []byte) (*File, error) {
	if len(raw) > MaxFile {
		return nil, fault.New(fault.TooLarge, "too_large", "The file is larger than 1 MB.")
	}
	b := bind.ParseBody(raw, true)
	if b.OneOf("format", fileFormat) == "" {
		return nil, badFile("It is not a file of entries.")
	}
	if version := b.Number("version", 0, math.MaxInt32, 0); version != fileVersion {
		return nil, badFile("The file has another version than this node can read.")
	}
	f := &File{Scope: b.Text("scope", maxEntryPath)}
	var entries []json.RawMessage
	if list, ok := b.Get("entries"); !ok || json.Unmarshal(list, &entries) != nil || b.Err() != nil {
		return nil, badFile("It is not a file of entries.")
	}
	switch {
	case len(entries) == 0:
		return nil, badFile("There are no entries in the file.")
	case len(entries) > MaxEntries:
		return nil, fault.New(fault.TooLarge, "too_large", "The file has %d entries, %d at most.", len(entries), MaxEntries)
	}
	seen := map[[2]string]bool{}
	for i, one := range entries {
		e, ok := parseEntry(bind.ParseBody(one, true))
		if !ok {
			return nil, badFile("Entry %d is not complete, or not in the form that pages save.", i+1)
		}
		id := [2]string{e.Device, e.Key}
		if seen[id] {
			return nil, badFile("Entry %d has the same key as another one.", i+1)
		}
		seen[id] = true
		f.Entries = append(f.Entries, e)
	}
	return f, nil
}

func badFile(format string, args ...any) error {
	return fault.New(fault.Invalid, "bad_file", format, args...)
}

func parseEntry(b *bind.Body) (e Entry, ok bool) {
	e.Key = bind.Need(b, "key", func(name string) string { return b.Text(name, maxEntryKey) })
	e.Device = b.Text("device", 2*hashBytes)
	e.Maker = b.Text("maker", makerDigits)
	e.Method = bind.Need(b, "method", func(name string) string { return b.OneOf(name, "POST", "PUT", "PATCH", "DELETE") })
	e.Path = bind.Need(b, "path", func(name string) string { return b.Text(name, maxEntryPath) })
	e.At = bind.Need(b, "at", func(name string) int64 { return b.Whole(name, latestAt, 0) })
	body, _ := b.Get("body")
	whole := json.Unmarshal(body, &e.Body) == nil && len(e.Body) <= maxEntryBody && utf8.ValidString(e.Body)
	if raw, is := b.Get("ahead"); is {
		e.Ahead = parseAhead(raw)
		whole = whole && e.Ahead != nil
	}
	return e, b.Err() == nil && whole && isKey(e.Key) && IsDeviceHash(e.Device) && isMaker(e.Maker)
}

// isKey reports whether a text can be sent as an Idempotency-Key as it is.
func isKey(text string) bool {
	return strings.TrimSpace(text) == text && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

func isMaker(text string) bool {
	return text == "" || len(text) == makerDigits && strings.Trim(text, "0123456789abcdef") == ""
}

func parseAhead(raw []byte) *[2]float64 {
	var span []float64
	if json.Unmarshal(raw, &span) != nil || len(span) != 2 || math.Abs(span[0]) > mostAhead || math.Abs(span[1]) > mostAhead {
		return nil
	}
	return &[2]float64{math.Round(span[0]), math.Round(span[1])}
}

// CheckPath reports whether the entry's path is plainly one below an application's mount, without anything that a router could read in
// two ways. It returns the path to route by.
func (e *Entry) CheckPath(mount string) (*url.URL, bool) {
	rest, below := strings.CutPrefix(e.Path, mount+"/")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("?#\\;<>\"`^{|}[]", r) }
	if !below || strings.ContainsFunc(e.Path, odd) {
		return nil, false
	}
	for part := range strings.SplitSeq(rest, "/") {
		text, err := url.PathUnescape(part)
		if err != nil || text == "" || text == "." || text == ".." || !utf8.ValidString(text) || strings.ContainsAny(text, `/\`) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, false
		}
	}
	u, err := url.ParseRequestURI(e.Path)
	return u, err == nil && u.Host == "" && u.Scheme == ""
}

// Encode returns the file as it can be parsed again.
func (f *File) Encode() ([]byte, error) {
	type entry struct {
		Key    string      `json:"key"`
		Device string      `json:"device"`
		Maker  string      `json:"maker,omitempty"`
		Method string      `json:"method"`
		Path   string      `json:"path"`
		Body   string      `json:"body"`
		At     int64       `json:"at"`
		Ahead  *[2]float64 `json:"ahead,omitempty"`
	}
	all := make([]entry, len(f.Entries))
	for i := range f.Entries {
		all[i] = entry(f.Entries[i])
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // it would make the file larger
	if err := enc.Encode(map[string]any{"format": fileFormat, "version": fileVersion, "scope": f.Scope, "entries": all}); err != nil {
		return nil, fmt.Errorf("encode a file of entries: %w", err)
	}
	if out.Len() > MaxFile {
		return nil, fault.New(fault.TooLarge, "too_large", "The file is larger than 1 MB.")
	}
	return out.Bytes(), nil
}
