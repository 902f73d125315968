package httpapi

import (
	"encoding/base64"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// usualLimit is the page of a list where the request names none.
const usualLimit = 50

// pageAsk is which part of a table is wanted.
type pageAsk struct {
	limit int
	start attr.Item
	text  map[string]string
}

// readPage reads limit and cursor, and other parameters that are plain text.
func readPage(c *gin.Context, others ...string) (pageAsk, error) {
	p := queryParser{values: c.Request.URL.Query()}
	ask := pageAsk{limit: p.number("limit", maxLimit), text: map[string]string{}}
	if ask.limit == 0 {
		ask.limit = usualLimit
	}
	for _, name := range others {
		ask.text[name] = p.text(name, maxID)
	}
	cursor := p.text("cursor", maxCursor)
	if len(p.details) > 0 {
		return pageAsk{}, &invalidError{p.details}
	}
	if cursor == "" {
		return ask, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return pageAsk{}, badCursor()
	}
	if ask.start, err = attr.ParseJSON(raw); err != nil || len(ask.start) == 0 {
		return pageAsk{}, badCursor()
	}
	return ask, nil
}

func badCursor() error {
	return fault.New(fault.Invalid, "bad_cursor", "The cursor was not issued by this list.")
}

// rows reads a page of a table. A row that is not as this version writes it is passed over.
func rows[T any](s *Server, c *gin.Context, ask *pageAsk, read func(tx *store.Tx) (store.Page, error)) (all []T, next string, err error) {
	err = s.view(c.Request.Context(), func(tx *store.Tx) error {
		page, err := read(tx)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			var one T
			if attr.Unmarshal(item, &one) == nil {
				all = append(all, one)
			}
		}
		if page.LastKey != nil {
			next = base64.RawURLEncoding.EncodeToString(attr.AppendJSON(nil, page.LastKey))
		}
		return nil
	})
	if ask.start != nil && fault.Is(err, fault.Invalid) {
		err = badCursor()
	}
	return all, next, err
}

// isToken reports whether a text looks like one of Apple's tokens.
func isToken(text string) bool {
	return len(text) >= 32 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
