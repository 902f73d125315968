package sigv4

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
)

// canonical returns the canonical request. payload is the hash of the body, in hexadecimal. Path and query are as sent: operations are all
// at "/", without a query.
func (c *claim) canonical(r *http.Request, payload string) string {
	var b strings.Builder
	b.Grow(1024)
	b.WriteString(cmp.Or(r.Method, http.MethodGet))
	b.WriteByte('\n')
	b.WriteString(cmp.Or(r.URL.EscapedPath(), "/"))
	b.WriteByte('\n')
	b.WriteString(r.URL.RawQuery)
	b.WriteByte('\n')
	for _, name := range c.signed {
		b.WriteString(name)
		b.WriteByte(':')
		writeHeader(&b, r, name)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	b.WriteString(strings.Join(c.signed, ";"))
	b.WriteByte('\n')
	b.WriteString(payload)
	return b.String()
}

// writeHeader writes the values of a header, including those that net/http removes from the headers.
func writeHeader(b *strings.Builder, r *http.Request, name string) {
	if name == "host" {
		b.WriteString(cmp.Or(r.Host, r.URL.Host))
		return
	}
	values := r.Header.Values(name)
	if len(values) == 0 && name == "content-length" && r.ContentLength >= 0 {
		b.WriteString(strconv.FormatInt(r.ContentLength, 10))
	}
	for i, value := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		writeTrimmed(b, value)
	}
}

// writeTrimmed writes a value without surrounding spaces, and with inner ones reduced to one.
func writeTrimmed(b *strings.Builder, value string) {
	value = strings.Trim(value, " \t")
	for {
		at := strings.Index(value, "  ")
		if at < 0 {
			b.WriteString(value)
			return
		}
		b.WriteString(value[:at+1])
		value = strings.TrimLeft(value[at:], " ")
	}
}
