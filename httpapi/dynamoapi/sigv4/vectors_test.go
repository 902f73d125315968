package sigv4

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// AWS's published examples of signed requests.
func TestPublishedVectors(t *testing.T) {
	const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	const form = "application/x-www-form-urlencoded"
	tests := []struct {
		name, method, target, host string
		headers                    http.Header
		body, service, signed      string
		want                       string
	}{
		{"get-vanilla", "GET", "/", "example.amazonaws.com", nil, "", "service", "host;x-amz-date",
			"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"post-vanilla", "POST", "/", "example.amazonaws.com", nil, "", "service", "host;x-amz-date",
			"5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"post-x-www-form-urlencoded", "POST", "/", "example.amazonaws.com", http.Header{"Content-Type": {form}}, "Param1=value1",
			"service", "content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		{"ListUsers", "GET", "/?Action=ListUsers&Version=2010-05-08", "iam.amazonaws.com",
			http.Header{"Content-Type": {form + "; charset=utf-8"}}, "", "iam", "content-type;host;x-amz-date",
			"5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, "http://"+test.host+test.target, nil)
			if test.headers != nil {
				r.Header = test.headers
			}
			r.Header.Set("X-Amz-Date", "20150830T123600Z")
			c := &claim{}
			c.sign(test.signed)
			sum := sha256.Sum256([]byte(test.body))
			canonical := c.canonical(r, hex.EncodeToString(sum[:]))
			text := stringToSign("20150830T123600Z", "us-east-1", test.service, canonical)
			if got := hex.EncodeToString(mac(derive(secret, "20150830", "us-east-1", test.service), text)); got != test.want {
				t.Errorf("%s of\n%s", got, canonical)
			}
		})
	}
	if got := hex.EncodeToString(derive(secret, "20150830", "us-east-1", "iam")); got !=
		"c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9" {
		t.Errorf("signing key %s", got)
	}
}

// The service's answer, in 2013, to a request with a wrong signature.
func TestRecordedMismatch(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "http://dynamodb.ap-southeast-2.amazonaws.com/", nil)
	r.Header.Set("Date", "Sun, 09 Jun 2013 10:07:59 GMT")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+testID+"/20130609/ap-southeast-2/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=b")
	v := New(keyring(t), func() time.Time { return time.Date(2013, 6, 9, 10, 8, 0, 0, time.UTC) })
	_, err := verify(v, r, "")
	const want = "InvalidSignatureException: The request signature we calculated does not match the signature you provided. " +
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.\n\n" +
		"The Canonical String for this request should have been\n'POST\n/\n\nhost:dynamodb.ap-southeast-2.amazonaws.com\n\nhost\n" +
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'\n\n" +
		"The String-to-Sign should have been\n'AWS4-HMAC-SHA256\n20130609T100759Z\n20130609/ap-southeast-2/dynamodb/aws4_request\n" +
		"7b8b82a032afd6014771e3375813fc995dd167b7b3a133a0b86e5925cb000ec5'\n"
	if got := refusal(t, err); got != want {
		t.Errorf("%s", got)
	}
	if strings.Contains(refusal(t, err), testSecret) {
		t.Error("it tells the secret")
	}
}
