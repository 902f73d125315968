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
	// MaxToken is its greatest length, in characters.
	MaxToken = 36
	// TokenVersion begins the value of a token.
	TokenVersion = 1

	tokenValue = 1 + 8 + sha256.Size // version, nanoseconds since 1970, hash
)

// Mark is a token with what it stands for; the zero mark is no token.
type Mark struct {
	Token string
	Hash  [sha256.Size]byte
}

// TokenKey is the key of a token. The bucket of tokens holds those of the transactions that were done: under TokenKey the
// time and a hash of the request, and under TokenTime the same tokens in the order of time, so that old ones are found.
func TokenKey(token string) []byte { return append([]byte{'t'}, token...) }

// TokenTime is the key under which a token is found by its time.
func TokenTime(at int64, token string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{'a'}, uint64(at)), token...)
}

// ReadToken takes the value of a token apart.
func ReadToken(v []byte) (at int64, hash []byte, err error) {
	if len(v) != tokenValue || v[0] != TokenVersion {
		return 0, nil, refusal.Damaged(nil, "a token cannot be decoded")
	}
	return int64(binary.BigEndian.Uint64(v[1:])), v[9:], nil
}
