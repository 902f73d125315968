package apns

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
)

// Apple accepts only ES256: a signature with a key on another curve would be refused.
func TestParseKeyOfAnotherCurve(t *testing.T) {
	for _, curve := range []elliptic.Curve{elliptic.P224(), elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		name := curve.Params().Name
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		if name == "P-256" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "on P-256") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
