package dynamoapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store/attr"
)

const (
	// tokenLife is how long a NextToken is good for, as in DynamoDB.
	tokenLife = time.Hour
	// maxToken is the longest NextToken, in characters.
	maxToken = 32768

	tokenVersion = 1
	tokenHash    = 16
	tokenHead    = 1 + 8 + tokenHash + 4
)

// mark is a hash of the statement and its parameters: a token is good for them alone.
func (s *statement) mark() [tokenHash]byte {
	h := sha256.New()
	b := binary.AppendUvarint(nil, uint64(len(s.text.V)))
	b = append(b, s.text.V...)
	for _, v := range s.parameters.V {
		one := attr.AppendValueJSON(nil, v.V)
		b = append(binary.AppendUvarint(b, uint64(len(one))), one...)
	}
	_, _ = h.Write(b) // a hash never fails
	return [tokenHash]byte(h.Sum(nil))
}

// token writes a NextToken: version, time, hash of the statement, position.
func (s *statement) token(now time.Time, at *position) string {
	b := append(make([]byte, 0, 128), tokenVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(now.Unix()))
	mark := s.mark()
	b = append(b, mark[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(at.step))
	if at.key != nil {
		b = attr.AppendJSON(b, at.key)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// position reads a NextToken. Whether the key is one of the table, the store finds out.
func (s *statement) position(now time.Time, token wire.Opt[string], steps int) (position, error) {
	if !token.Set {
		return position{}, nil
	}
	b, err := base64.StdEncoding.DecodeString(token.V)
	if err != nil || len(b) < tokenHead || b[0] != tokenVersion {
		return position{}, errToken()
	}
	made := time.Unix(int64(binary.BigEndian.Uint64(b[1:])), 0)
	switch {
	case [tokenHash]byte(b[9:]) != s.mark():
		return position{}, errValidation("NextToken does not match request")
	case now.Sub(made) > tokenLife:
		return position{}, errValidation("Given NextToken has already expired")
	}
	at := position{step: int(binary.BigEndian.Uint32(b[9+tokenHash:]))}
	if at.step >= steps {
		return position{}, errToken()
	}
	if rest := b[tokenHead:]; len(rest) > 0 {
		if at.key, err = attr.ParseJSON(rest); err != nil {
			return position{}, errToken()
		}
	}
	return at, nil
}

func errToken() error { return errValidation("Invalid NextToken") }
