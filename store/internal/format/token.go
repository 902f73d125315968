package format

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/touchline/touchline/store/internal/refusal"
)

const (
	// TokenAge is how long DynamoDB remembers a ClientRequestToken.
	TokenAge = 10 * time.Minute
	// MaxToken is the maximum length of a token, in characters.
	MaxToken = 36
	// TokenVersion is the first byte of a token's value.
	TokenVersion = 1

	tokenValue = 1 + 8 + sha256.Size // version, nanoseconds since 1970, hash
)

// Mark is a token and the hash of its request. The zero Mark means no token.
type Mark struct {
	Token string
	Hash  [sha256.Size]byte
}

// TokenKey returns the key of a token. The bucket holds the tokens of completed transactions twice: under TokenKey, with the time and a
// hash of the request, and under TokenTime in the order of time, to find old ones.
func TokenKey(token string) []byte { return append([]byte{'t'}, token...) }

// TokenTime returns the key of a token by its time.
func TokenTime(at int64, token string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{'a'}, uint64(at)), token...)
}

// ReadToken decodes the value of a token.
func ReadToken(v []byte) (at int64, hash []byte, err error) {
	if len(v) != tokenValue || v[0] != TokenVersion {
		return 0, nil, refusal.DamagedData(nil, "a token cannot be decoded")
	}
	return int64(binary.BigEndian.Uint64(v[1:])), v[9:], nil
}
