package sigv4

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

// FuzzAuthorization checks that only the right header is accepted, and that others are refused with a known error.
func FuzzAuthorization(f *testing.F) {
	corpus.Add(f)
	good := signed(f, testBody)
	f.Add(good.Header.Get("Authorization"), good.Header.Get("X-Amz-Date"))
	f.Add("AWS4-HMAC-SHA256 Credential=a/b/c/d/e,SignedHeaders=host;x-amz-date;x-amz-target,Signature=0", "20260609T100015Z")
	f.Add("AWS4-", "Tue, 09 Jun 2026 10:00:15 GMT")
	v := verifier(f)
	f.Fuzz(func(t *testing.T, auth, date string) {
		r := request(testBody)
		r.ContentLength = good.ContentLength
		r.Header.Set("Authorization", auth)
		r.Header.Set("X-Amz-Date", date)
		key := AccessKey(r)
		if key != "" && !goodID(key) {
			t.Fatalf("key %q", key)
		}
		p, err := verify(v, r, testBody)
		checkVerdict(t, p, err)
		if err == nil && (!strings.Contains(auth, between(good.Header.Get("Authorization"), "Signature=", ",")) || key != testID) {
			t.Fatalf("%q is accepted", auth)
		}
	})
}

// FuzzRequest does the same with whole requests: none is signed, because nobody knows the secret.
func FuzzRequest(f *testing.F) {
	corpus.Add(f)
	good := signed(f, testBody)
	f.Add("POST", "/", "", "127.0.0.1:8000", "Authorization", good.Header.Get("Authorization"), []byte("{}"))
	f.Add("GET", "/a/../b%2f", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="+testID+"%2F20260609%2Fr%2Fdynamodb%2Faws4_request"+
		"&X-Amz-Date=20260609T100015Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0&X-Amz-Expires=9", "h", "X-Amz-Date", "1", []byte{})
	f.Add("", "//", "a=%zz&&=;", "", "X-Amz-Security-Token", "  a  b ", []byte{0})
	v := verifier(f)
	f.Fuzz(func(t *testing.T, method, path, query, host, name, value string, body []byte) {
		r := &http.Request{
			Method: method, Host: host, URL: &url.URL{Path: path, RawQuery: query}, ContentLength: int64(len(body)),
			Header: http.Header{http.CanonicalHeaderKey(name): {value, value}, "X-Amz-Date": {"20260609T100015Z"}},
		}
		_ = AccessKey(r)
		p, err := v.Verify(r, sha256.Sum256(body))
		checkVerdict(t, p, err)
		if err == nil {
			t.Fatal("accepted")
		}
	})
}

func checkVerdict(t *testing.T, p *Principal, err error) {
	t.Helper()
	if (p == nil) != (err != nil) {
		t.Fatalf("%v and %v", p, err)
	}
	if err == nil {
		return
	}
	name, _, _ := strings.Cut(refusal(t, err), ":")
	switch name {
	case "MissingAuthenticationTokenException", "IncompleteSignatureException", "InvalidSignatureException", "UnrecognizedClientException":
	default:
		t.Fatalf("%v", err)
	}
	if strings.Contains(err.Error(), testSecret) {
		t.Fatal("it tells the secret")
	}
}
