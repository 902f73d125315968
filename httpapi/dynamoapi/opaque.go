package dynamoapi

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
)

// opaque writes a place that a client hands back as it is: JSON and a checksum, in base64.
func opaque(place any) string {
	b, _ := json.Marshal(place) // of plain fields
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// fromOpaque reads a text into place, and reports whether opaque wrote it. A client that computes the checksum can make one: what is in
// it is checked like any other member of a request.
func fromOpaque(text string, place any) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	n := len(b) - crc32.Size
	return err == nil && n >= 0 && crc32.ChecksumIEEE(b[:n]) == binary.BigEndian.Uint32(b[n:]) && json.Unmarshal(b[:n], place) == nil
}
