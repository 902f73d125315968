package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// writeBody writes v as JSON with the given status.
func writeBody(c *gin.Context, status int, contentType string, v any) {
	body, err := json.Marshal(v)
	if err != nil { // one of our own structs: a bug
		_ = c.Error(fmt.Errorf("encode answer: %w", err))
		c.Status(http.StatusInternalServerError)
		return
	}
	c.Data(status, contentType, body)
}

// Answer answers a write with status and v as JSON, unless err is set.
func Answer(c *gin.Context, status int, v any, err error) error {
	if err != nil {
		return err
	}
	body, err := encode(v)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(acceptedStatus(c, status), jsonType, body)
	return nil
}

// NoContent answers 204.
func NoContent(c *gin.Context) error {
	c.Header("Cache-Control", "no-store")
	c.Status(acceptedStatus(c, http.StatusNoContent))
	c.Writer.WriteHeaderNow()
	return nil
}

// seeOther redirects a browser with 303 See Other, which is not cached.
func seeOther(c *gin.Context, to string) error {
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, to)
	return nil
}

const jsonType = "application/json; charset=utf-8"

// JSON answers a read with v as JSON, unless err is set. It sets a strong ETag, and answers 304 if the client has that version. Clients
// must revalidate every answer: the data may change within seconds.
func JSON(c *gin.Context, v any, err error) error {
	if err != nil {
		return err
	}
	body, err := encode(v)
	if err != nil {
		return err
	}
	writeTagged(c, jsonType, body)
	return nil
}

func encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return body, nil
}

func writeTagged(c *gin.Context, contentType string, body []byte) {
	writeTaggedAs(c, contentType, body, body)
}

// writeTaggedAs is writeTagged for a body that is sent in another encoding. The ETag identifies the content, encoded or not.
func writeTaggedAs(c *gin.Context, contentType string, body, sent []byte) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	c.Header("ETag", tag)
	c.Header("Cache-Control", "no-cache")
	if _, known := Identity(c); known {
		c.Header("Cache-Control", "private, no-cache")
	}
	if hasTag(c.Request.Header.Values("If-None-Match"), tag) {
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return
	}
	c.Data(http.StatusOK, contentType, sent)
}

// hasTag reports whether If-None-Match contains tag (RFC 9110): a list, compared weakly, or a star.
func hasTag(headers []string, tag string) bool {
	for _, h := range headers {
		for part := range strings.SplitSeq(h, ",") {
			part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
			if part == tag || part == "*" {
				return true
			}
		}
	}
	return false
}

// List is the shape of a list; Cursor is null on the last page.
type List[T any] struct {
	Items  []T     `json:"items"`
	Cursor *string `json:"cursor"`
}

// NewList returns a List; next is the cursor of the next page, empty on the last one.
func NewList[T any](items []T, next string) List[T] {
	l := List[T]{Items: items}
	if l.Items == nil {
		l.Items = []T{}
	}
	if next != "" {
		l.Cursor = &next
	}
	return l
}

// HTML answers with a page that must not be cached, unless err is set.
func HTML(c *gin.Context, status int, body []byte, err error) error {
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Header(headerNode, serverOf(c).cfg.Store.Node())
	if m := appOf(c); m != nil && m.Offline {
		c.Header(headerReader, readerOf(c))
		serverOf(c).renewDevice(c)
	}
	c.Data(status, htmlType, body)
	return nil
}

// CSV answers with a table as a file download. Cells that a spreadsheet would run as a formula are marked as text.
func CSV(c *gin.Context, name string, rows [][]string) error {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		for i, cell := range row {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
				row[i] = "'" + cell
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return download(c, name, "text/csv; charset=utf-8", out.Bytes())
}
