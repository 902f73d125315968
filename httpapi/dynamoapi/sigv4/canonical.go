package sigv4

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// canonical returns the canonical request. payload is the hash of the body, in hexadecimal.
func (c *claim) canonical(r *http.Request, payload string) string {
	var b strings.Builder
	b.Grow(1024)
	b.WriteString(cmp.Or(r.Method, http.MethodGet))
	b.WriteByte('\n')
	writePath(&b, r.URL)
	b.WriteByte('\n')
	writeQuery(&b, r.URL.RawQuery)
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

// writePath writes the path without dots and empty segments, escaped once more, as for all services except S3.
func writePath(b *strings.Builder, u *url.URL) {
	if u.Path == "/" || u.Path == "" {
		b.WriteByte('/')
		return
	}
	escaped := u.EscapedPath()
	clean := path.Clean("/" + escaped)
	if strings.HasSuffix(escaped, "/") && clean != "/" {
		clean += "/"
	}
	writeEscaped(b, clean, true)
}

// writeQuery writes the query parameters, sorted, without the signature.
func writeQuery(b *strings.Builder, raw string) {
	if raw == "" {
		return
	}
	var all []parameter
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		if part == "" || name == "X-Amz-Signature" {
			continue
		}
		all = append(all, parameter{reescape(name), reescape(value)})
	}
	slices.SortFunc(all, func(p, q parameter) int {
		return cmp.Or(strings.Compare(p.name, q.name), strings.Compare(p.value, q.value))
	})
	for i, p := range all {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p.name)
		b.WriteByte('=')
		b.WriteString(p.value)
	}
}

// reescape returns a part of a query in canonical escaping. If it cannot be unescaped it stays as it is.
func reescape(s string) string {
	plain, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	var b strings.Builder
	writeEscaped(&b, plain, false)
	return b.String()
}

func writeEscaped(b *strings.Builder, s string, slash bool) {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			c == '-' || c == '_' || c == '.' || c == '~' || slash && c == '/' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
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
