package handover

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A device's id is a secret of its browser, which has it as a cookie that no script can read. Everything else, rows and files, holds its
// hash. A hash does not have the form of an id, so a hash that somebody has seen cannot be shown as one.
const (
	idLength   = 26 // of rand.Text
	idAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hashBytes  = 16
)

// NewDevice returns the id of a new device.
func NewDevice() string { return rand.Text() }

// DeviceHash returns the hash of a device's id; ok is false if the id does not have the form of one.
func DeviceHash(id string) (hash string, ok bool) {
	if len(id) != idLength || strings.Trim(id, idAlphabet) != "" {
		return "", false
	}
	sum := sha256.Sum256([]byte("id of a device\n" + id))
	return hex.EncodeToString(sum[:hashBytes]), true
}

// IsDeviceHash reports whether a text has the form of a device's hash.
func IsDeviceHash(text string) bool {
	return len(text) == 2*hashBytes && strings.Trim(text, "0123456789abcdef") == ""
}
