package sigv4

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

func TestSignedBySDK(t *testing.T) {
	tests := map[string]func(*http.Request){
		"plain":           func(*http.Request) {},
		"spaces":          func(r *http.Request) { r.Header.Set("X-Amz-Meta", "  a   b    c ") },
		"several values":  func(r *http.Request) { r.Header["X-Amz-Many"] = []string{"b", " a", ""} },
		"no content type": func(r *http.Request) { r.Header.Del("Content-Type") },
		"other host":      func(r *http.Request) { r.Host = "dynamodb.eu-west-1.amazonaws.com" },
		"hash of the body": func(r *http.Request) {
			sum := sha256.Sum256([]byte(testBody))
			r.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			r := request(testBody)
			change(r)
			sign(t, r, testBody, testNow)
			p, err := verify(verifier(t), r, testBody)
			if err != nil || p.ID() != testID {
				t.Fatalf("%v, %v", p, err)
			}
			if _, err := verify(verifier(t), r, testBody+" "); err == nil {
				t.Error("another body is accepted")
			}
		})
	}
}

// A received request differs from the signed one: net/http moves some headers.
func TestOverTheWire(t *testing.T) {
	v := verifier(t)
	var got error
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, got = verify(v, r, testBody) }))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(testBody))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	sign(t, r, testBody, testNow)
	if !strings.Contains(r.Header.Get("Authorization"), "content-length") {
		t.Fatal("the SDK no longer signs the length")
	}
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got != nil {
		t.Error(got)
	}
}

// A presigned URL has no Authorization header.
func TestPresigned(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8000/?X-Amz-Expires=4000", strings.NewReader(testBody))
	sum := sha256.Sum256([]byte(testBody))
	url, header, err := signer.NewSigner().PresignHTTP(context.Background(),
		aws.Credentials{AccessKeyID: testID, SecretAccessKey: testSecret}, r, hex.EncodeToString(sum[:]), "dynamodb", "eu-west-1", testNow)
	if err != nil {
		t.Fatal(err)
	}
	out := httptest.NewRequest(http.MethodPost, url, nil)
	out.Header = header
	_, err = verify(verifier(t), out, testBody)
	if got := refusal(t, err); got != "MissingAuthenticationTokenException: Request is missing Authentication Token" {
		t.Error(got)
	}
}

func TestRefusals(t *testing.T) {
	const shown = "Authorization="
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	inAuth := func(old, now string) func(*http.Request) {
		return func(r *http.Request) {
			auth := r.Header.Get("Authorization")
			if !strings.Contains(auth, old) {
				t.Fatalf("no %q in %q", old, auth)
			}
			r.Header.Set("Authorization", strings.Replace(auth, old, now, 1))
		}
	}
	const scope = testID + "/20260609/eu-west-1/dynamodb/aws4_request"
	tests := []struct {
		name   string
		change func(*http.Request)
		want   string // the text, or its start if it ends in "..."
	}{
		{"nothing", func(r *http.Request) { r.Header.Del("Authorization") },
			"MissingAuthenticationTokenException: Request is missing Authentication Token"},
		{"another scheme", header("Authorization", "AWS4"),
			"MissingAuthenticationTokenException: Request is missing Authentication Token"},
		{"empty", func(r *http.Request) { r.Header.Set("Authorization", "AWS4-"); r.Header.Del("X-Amz-Date") },
			"IncompleteSignatureException: Authorization header requires 'Credential' parameter. " +
				"Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. " +
				"Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. " + shown + "AWS4-"},
		{"no signature", header("Authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host"),
			"IncompleteSignatureException: Authorization header requires 'Signature' parameter. " + shown +
				"AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host"},
		{"no equals sign", header("Authorization", "AWS4-HMAC-SHA256 Signature=b,    Credential,    SignedHeaders"),
			"IncompleteSignatureException: 'Credential' not a valid key=value pair (missing equal-sign) in Authorization header: " +
				"'AWS4-HMAC-SHA256 Signature=b,    Credential,    SignedHeaders'."},
		{"bad date", header("X-Amz-Date", "201"), "IncompleteSignatureException: Date must be in ISO-8601 'basic format'. " +
			"Got '201'. See http://en.wikipedia.org/wiki/ISO_8601"},
		{"too old", header("X-Amz-Date", "20260609T094514Z"), "InvalidSignatureException: Signature expired: 20260609T094514Z is " +
			"now earlier than 20260609T094515Z (20260609T100015Z - 15 min.)"},
		{"too new", header("X-Amz-Date", "20260609T101516Z"), "InvalidSignatureException: Signature not yet current: " +
			"20260609T101516Z is still later than 20260609T101515Z (20260609T100015Z + 15 min.)"},
		{"host not signed", inAuth(";host", ""), "InvalidSignatureException: 'Host' must be a 'SignedHeader' in the AWS Authorization."},
		{"target not signed", inAuth(";x-amz-target", ""),
			"InvalidSignatureException: 'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization."},
		{"a token put in", header("X-Amz-Security-Token", "t"),
			"InvalidSignatureException: 'X-Amz-Security-Token' must be a 'SignedHeader' in the AWS Authorization."},
		{"algorithm", inAuth("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA25"),
			"IncompleteSignatureException: Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). "},
		{"short credential", inAuth(scope, "a/b/c/d"), "IncompleteSignatureException: Credential must have exactly 5 " +
			"slash-delimited elements, e.g. keyid/date/region/service/term, got 'a/b/c/d'"},
		{"wrong credential", inAuth(scope, "a/b//d/e"), "InvalidSignatureException: " +
			"Credential should be scoped to a valid region, not ''. Credential should be scoped to correct service: 'dynamodb'. " +
			"Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. Date in Credential scope does not " +
			"match YYYYMMDD from ISO-8601 version of date from HTTP: 'b' != '20260609', from '20260609T100015Z'."},
		{"unknown key", inAuth(testID, "AKIDNOBODY"),
			"UnrecognizedClientException: The security token included in the request is invalid."},
		{"another day", inAuth("/20260609/", "/20260608/"), "InvalidSignatureException: Date in Credential scope does not match " +
			"YYYYMMDD from ISO-8601 version of date from HTTP: '20260608' != '20260609', from '20260609T100015Z'."},
		{"signature", inAuth("Signature=", "Signature=0"), "InvalidSignatureException: The request signature we calculated " +
			"does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service " +
			"documentation for details.\n\nThe Canonical String for this request should have been\n'POST\n/\n\naccept-encoding:identity\n..."},
		{"signature of another region", inAuth("eu-west-1", "eu-west-2"), "InvalidSignatureException: The request signature we calculated ..."},
		{"in capitals", func(r *http.Request) {
			auth, sig, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
			r.Header.Set("Authorization", auth+"Signature="+strings.ToUpper(sig))
		}, "InvalidSignatureException: The request signature we calculated ..."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := signed(t, testBody)
			test.change(r)
			p, err := verify(verifier(t), r, testBody)
			got := refusal(t, err)
			if begin, ok := strings.CutSuffix(test.want, "..."); p != nil || got != test.want && !(ok && strings.HasPrefix(got, begin)) {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// Times at the limits are accepted, and Date counts if there is no other.
func TestTime(t *testing.T) {
	for _, at := range []time.Duration{-15 * time.Minute, 15 * time.Minute} {
		r := request(testBody)
		sign(t, r, testBody, testNow.Add(at))
		if _, err := verify(verifier(t), r, testBody); err != nil {
			t.Errorf("%v: %v", at, err)
		}
	}
	r := request(testBody)
	r.Header.Set("Date", testNow.Format(http.TimeFormat))
	sum := sha256.Sum256([]byte(testBody))
	c := &claim{stamp: testNow.Format(stampLayout)}
	c.sign("date;host;x-amz-target")
	text := stringToSign(c.stamp, "eu-west-1", service, c.canonical(r, hex.EncodeToString(sum[:])))
	sig := hex.EncodeToString(mac(derive(testSecret, "20260609", "eu-west-1", service), text))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+testID+"/20260609/eu-west-1/dynamodb/aws4_request/,"+
		"SignedHeaders=x-amz-target;Host;date,Signature="+sig)
	if _, err := verify(verifier(t), r, testBody); err != nil {
		t.Error(err)
	}
}

func TestToken(t *testing.T) {
	r := request(testBody)
	sum := sha256.Sum256([]byte(testBody))
	creds := aws.Credentials{AccessKeyID: testID, SecretAccessKey: testSecret, SessionToken: "t"}
	if err := signer.NewSigner().SignHTTP(t.Context(), creds, r, hex.EncodeToString(sum[:]), "dynamodb", "eu-west-1", testNow); err != nil {
		t.Fatal(err)
	}
	_, err := verify(verifier(t), r, testBody)
	if got := refusal(t, err); got != "UnrecognizedClientException: The security token included in the request is invalid." {
		t.Error(got)
	}
}

func TestUnsignedPayload(t *testing.T) {
	r := request(testBody)
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	creds := aws.Credentials{AccessKeyID: testID, SecretAccessKey: testSecret}
	if err := signer.NewSigner().SignHTTP(t.Context(), creds, r, "UNSIGNED-PAYLOAD", "dynamodb", "eu-west-1", testNow); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(verifier(t), r, testBody); err == nil {
		t.Error("a body that is not signed is accepted")
	}
}

// New keys take effect at once.
func TestSetKeys(t *testing.T) {
	v := verifier(t)
	if _, err := verify(v, signed(t, testBody), testBody); err != nil {
		t.Fatal(err)
	}
	other, err := NewKeyring(Config{Keys: []Key{{
		ID: testID, Secret: testSecret + "x", Allow: []Grant{{[]string{"*"}, []string{"*"}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	v.SetKeys(other)
	if _, err := verify(v, signed(t, testBody), testBody); err == nil {
		t.Error("the old secret still counts")
	}
}

func TestNilVerifier(t *testing.T) {
	p, err := (*Verifier)(nil).Verify(request(testBody), [32]byte{})
	if err != nil || p.Allow("DeleteTable", "Any") != nil || p.Allow("ListTables") != nil || p.ID() != "" {
		t.Errorf("%v, %v", p, err)
	}
}

func TestAccessKey(t *testing.T) {
	for auth, want := range map[string]string{
		"":                                               "",
		"AWS4-HMAC-SHA256 Credential=abc/d":              "abc",
		"AWS4-HMAC-SHA256 Credential=abc":                "",
		"AWS4-HMAC-SHA256 Credential=a\nc/d":             "",
		"AWS4-HMAC-SHA256 Credential=/d":                 "",
		"x Credential=" + strings.Repeat("a", 128) + "/": strings.Repeat("a", 128),
		"x Credential=" + strings.Repeat("a", 129) + "/": "",
	} {
		if got := AccessKey(&http.Request{Header: http.Header{"Authorization": {auth}}, URL: request("").URL}); got != want {
			t.Errorf("%q: %q", auth, got)
		}
	}
}
