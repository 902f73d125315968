package bind

import (
	"encoding/base64"
	"net/http"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// Limits of a page.
const (
	MaxLimit     = 100 // items
	DefaultLimit = 50  // without a limit in the request
	MaxCursor    = 1024
)

// Page is the part of a list that a request asks for.
type Page struct {
	Limit int
	Start attr.Item         // the key that the page follows; nil: the first page
	Text  map[string]string // other parameters
}

// ReadPage reads limit, cursor, and other plain text parameters.
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

// Limit reads the page size.
func (p *Query) Limit() int {
	if n := p.Number("limit", MaxLimit); n != 0 {
		return n
	}
	return DefaultLimit
}

// Cursor encodes the last key of a page as the cursor of the next one. nil, the last page, gives the empty string.
func Cursor(last attr.Item) string {
	if last == nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(attr.AppendJSON(nil, last))
}

// BadCursor is the error for a cursor that this node never issued.
func BadCursor() error {
	return fault.New(fault.Invalid, "bad_cursor", "The cursor was not issued by this list.")
}
