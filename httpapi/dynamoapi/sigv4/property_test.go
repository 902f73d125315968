package sigv4

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A signed request with any change is refused.
func TestAnyChangeRefuses(t *testing.T) {
	v := verifier(t)
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.StringN(0, 40, 200).Draw(rt, "body")
		text := rapid.StringMatching(`[a-zA-Z0-9%+=/ .;,~-]{0,12}`)
		r := request(body)
		r.Header.Set("X-Amz-Meta", text.Draw(rt, "header"))
		sign(t, r, body, testNow)
		if _, err := verify(v, r, body); err != nil {
			rt.Fatalf("signed: %v", err)
		}
		sum := sha256.Sum256([]byte(body))
		switch change := rapid.SampledFrom([]string{"header", "path", "query", "body", "method", "host", "authorization", "date"}).Draw(rt, "change"); change {
		case "header":
			names := strings.Split(between(r.Header.Get("Authorization"), "SignedHeaders=", ","), ";")
			name := rapid.SampledFrom(slices.DeleteFunc(names, func(n string) bool { return n == "host" })).Draw(rt, "which")
			if name == "content-length" {
				r.ContentLength++
				break
			}
			r.Header.Set(name, r.Header.Get(name)+"x")
		case "path":
			r.URL.Path += rapid.StringMatching(`[a-z%]{1,3}`).Draw(rt, "more")
		case "query":
			r.URL.RawQuery = url.Values{"a": {text.Draw(rt, "more")}}.Encode()
		case "body":
			bit := rapid.IntRange(0, 8*len(sum)-1).Draw(rt, "bit")
			sum[bit/8] ^= 1 << (bit % 8)
		case "method":
			r.Method = http.MethodPut
		case "host":
			r.Host += "0"
		case "authorization":
			auth := []byte(r.Header.Get("Authorization"))
			at := rapid.IntRange(len("AWS4-HMAC-SHA256 "), len(auth)-1).Draw(rt, "at")
			to := rapid.SampledFrom([]byte("abf0129x/")).Draw(rt, "to")
			if auth[at] == ' ' || auth[at] == ',' || auth[at] == to {
				return // equivalent or equal
			}
			auth[at] = to
			r.Header.Set("Authorization", string(auth))
		case "date":
			r.Header.Set("X-Amz-Date", testNow.Add(time.Second).Format(stampLayout))
		}
		if p, err := v.Verify(r, sum); err == nil || p != nil {
			rt.Fatalf("%v is accepted", p)
		} else {
			refusal(t, err)
		}
	})
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}
