package bind

import (
	"encoding/base64"
	"net/http"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// Bounds of a page.
const (
	MaxLimit     = 100 // items
	DefaultLimit = 50  // where the request names none
	MaxCursor    = 1024
)

// Page is which part of a list a request wants.
type Page struct {
	Limit int
	Start attr.Item         // the key that the page follows; nil: the first page
	Text  map[string]string // other parameters
}

// ReadPage reads limit and cursor, and other parameters that are plain text.
func ReadPage(r *http.Request, others ...string) (Page, error) {
	q := Parameters(r)
	p := Page{Limit: q.Limit(), Text: map[string]string{}}
	for _, name := range others {
		p.Text[name] = q.Text(name, MaxID)
	}
	cursor := q.Text("cursor", MaxCursor)
	if err := q.Err(); err != nil || cursor == "" {
		return p, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return Page{}, BadCursor()
	}
	if p.Start, err = attr.ParseJSON(raw); err != nil || len(p.Start) == 0 {
		return Page{}, BadCursor()
	}
	return p, nil
}

// Limit reads how many items a page is to have.
func (p *Query) Limit() int {
	if n := p.Number("limit", MaxLimit); n != 0 {
		return n
	}
	return DefaultLimit
}

// Cursor writes the key that a page ends with, for the next one; nil: it was the last.
func Cursor(last attr.Item) string {
	if last == nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(attr.AppendJSON(nil, last))
}

// BadCursor is a cursor that this node never issued.
func BadCursor() error {
	return fault.New(fault.Invalid, "bad_cursor", "The cursor was not issued by this list.")
}
