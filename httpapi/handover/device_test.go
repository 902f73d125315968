package handover_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
)

// A device's hash, which rows and files have, is not accepted as an id.
func TestHashIsNoID(t *testing.T) {
	id := handover.NewDevice()
	hash, ok := handover.DeviceHash(id)
	if !ok || !handover.IsDeviceHash(hash) || handover.IsDeviceHash(id) {
		t.Fatalf("id %q, hash %q %t", id, hash, ok)
	}
	if again, _ := handover.DeviceHash(id); again != hash {
		t.Errorf("%q, then %q", hash, again)
	}
	for _, text := range []string{"", hash, strings.ToUpper(hash), hash[:26], id + "A", id[1:], strings.ToLower(id)} {
		if _, ok := handover.DeviceHash(text); ok {
			t.Errorf("%q is an id", text)
		}
	}
}
