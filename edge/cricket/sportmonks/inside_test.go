package sportmonks

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
)

// Every path by which the token could leave is closed on its own, not only by the final redaction of an error.
func TestRedaction(t *testing.T) {
	const token = "to+ken"
	c, err := New(Config{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	inside := errors.New("malformed: GET /?api_token=" + url.QueryEscape(token) + " " + token)
	outer := &url.Error{Op: "Get", URL: "https://feed.example/?api_token=" + token, Err: errors.New("refused")}
	for name, err := range map[string]error{
		"a cause":       c.foreign(Livescores, inside),
		"an address":    c.foreign(Livescores, outer),
		"a wrapped one": c.foreign(Livescores, fmt.Errorf("giving up: %w", outer)),
		"a decoder's":   c.clean(badJSON(Livescores, inside)),
		"any other":     c.clean(inside),
	} {
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), token) || strings.Contains(e.Error(), url.QueryEscape(token)) {
				t.Errorf("%s: the token is in %q", name, e)
			}
		}
	}
	kept := c.clean(badJSON(Livescores, inside))
	own, ok := errors.AsType[*Error](kept)
	if !ok || own.Endpoint != Livescores || own.Status != 200 || own.Fault.Code != CodeBadJSON ||
		fault.KindOf(kept) != fault.Unavailable {
		t.Errorf("redaction lost the error's kind, code, endpoint or status: %+v", kept)
	}
}

// Shortening a value for the log never leaves a part of the token.
func TestOddityIsNotCutThroughTheToken(t *testing.T) {
	const token = "abcdefghijklmnopqrstuvwxyz"
	var logged bytes.Buffer
	c, err := New(Config{Token: token, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for before := range maxQuoted {
		c.oddities.unknown(OddUnknownStatus, strings.Repeat("-", before)+token)
	}
	if text := logged.String(); !strings.Contains(text, "token") || strings.Contains(text, token[:2]) {
		t.Errorf("logged:\n%s", text)
	}
}

// Only a valid entity tag may be sent back: an invalid header value would make every request fail before it is sent.
func TestETag(t *testing.T) {
	for tag, want := range map[string]string{
		`"abc"`: `"abc"`, `W/"abc"`: `W/"abc"`, `""`: `""`,
		``: ``, `abc`: ``, `"abc`: ``, `"`: ``, "\"a\x00b\"": ``, "\"a\r\nX: y\"": ``, `"` + strings.Repeat("a", 300) + `"`: ``,
	} {
		if got := etag(http.Header{"Etag": {tag}}); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
}
