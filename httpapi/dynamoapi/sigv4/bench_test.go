package sigv4

import (
	"crypto/sha256"
	"strings"
	"testing"
)

// BenchmarkVerify verifies a request with a body of 1 KB, including its hash.
func BenchmarkVerify(b *testing.B) {
	body := []byte(strings.Repeat("x", 1024))
	r := request(string(body))
	sign(b, r, string(body), testNow)
	v := verifier(b)
	b.ReportAllocs()
	for b.Loop() {
		p, err := v.Verify(r, sha256.Sum256(body))
		if err != nil || p.Allow("GetItem", "Scores") != nil {
			b.Fatal(err)
		}
	}
}
