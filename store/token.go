package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"
	"unicode/utf8"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store/attr"
)

const (
	// tokenAge is how long DynamoDB remembers a ClientRequestToken.
	tokenAge = 10 * time.Minute
	// maxToken is its greatest length, in characters.
	maxToken = 36
	// tokenSlice bounds the tokens that one commit forgets; see trimSlice.
	tokenSlice = 64
	// housekeepTokens is the same for a slice of Housekeep.
	housekeepTokens = 500

	tokenVersion = 1
	tokenValue   = 1 + 8 + sha256.Size // version, nanoseconds since 1970, hash
)

// mark is a token with what it stands for; the zero mark is no token.
type mark struct {
	token string
	hash  [sha256.Size]byte
}

// The bucket of tokens holds those of the transactions that were done: under tokenKey the time and a hash of the request,
// and under tokenTime the same tokens in the order of time, so that old ones are found.
func tokenKey(token string) []byte { return append([]byte{'t'}, token...) }

func tokenTime(at int64, token string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{'a'}, uint64(at)), token...)
}

// checkToken refuses a token that is too long.
func checkToken(token string) error {
	if utf8.RuneCountInString(token) > maxToken {
		return errConstraint("ClientRequestToken", "Member must have length less than or equal to 36")
	}
	return nil
}

// newMark hashes what a request asks for: equal requests have equal marks.
func newMark(token string, writes []write) mark {
	if token == "" {
		return mark{}
	}
	h := sha256.New()
	var b []byte
	for i := range writes {
		w := &writes[i]
		b = append(b[:0], byte(w.op))
		b = fields.Append(b, w.name)
		b = w.request.append(b)
		b = attr.Encode(b, w.subject)
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(b)))) // a hash never fails
		_, _ = h.Write(b)
	}
	m := mark{token: token}
	h.Sum(m.hash[:0])
	return m
}

// doneBefore reports whether the request was done with this token before. Another request with the token is refused.
func (tx *Tx) doneBefore(m mark) (bool, error) {
	bucket := tx.btx.Bucket(bucketTokens)
	if m.token == "" || bucket == nil {
		return false, nil
	}
	v := bucket.Get(tokenKey(m.token))
	if v == nil {
		return false, nil
	}
	at, hash, err := readToken(v)
	if err != nil {
		return false, err
	}
	if tx.Now().Sub(time.Unix(0, at)) >= tokenAge {
		return false, nil
	}
	if !bytes.Equal(hash, m.hash[:]) {
		return false, fault.New(fault.Conflict, "idempotent_parameter_mismatch", "DynamoDB rejected the request because you "+
			"retried a request with a different payload but with an idempotent token that was already used.")
	}
	return true, nil
}

// readToken takes the value of a token apart.
func readToken(v []byte) (at int64, hash []byte, err error) {
	if len(v) != tokenValue || v[0] != tokenVersion {
		return 0, nil, damaged(nil, "a token cannot be decoded")
	}
	return int64(binary.BigEndian.Uint64(v[1:])), v[9:], nil
}

// remember notes that a request was done. Its error means that the transaction cannot be committed.
func (tx *Tx) remember(m mark) error {
	if m.token == "" {
		return nil
	}
	return tx.breakOff(tx.rememberSteps(m))
}

func (tx *Tx) rememberSteps(m mark) error {
	bucket, err := tx.btx.CreateBucketIfNotExists(bucketTokens)
	if err != nil {
		return err
	}
	key, at := tokenKey(m.token), tx.Now().UnixNano()
	old := bucket.Get(key)
	if old != nil { // past its age, and not forgotten yet
		before, _, err := readToken(old)
		if err != nil {
			return err
		}
		if err := tx.batch.remove(bucket, tokenTime(before, m.token), []byte{}); err != nil {
			return err
		}
	}
	v := binary.BigEndian.AppendUint64([]byte{tokenVersion}, uint64(at))
	if err := tx.batch.set(bucket, key, append(v, m.hash[:]...), old); err != nil {
		return err
	}
	failpoint.Hit(failpoint.TokenKey)
	tx.batch.tokens++
	tx.batch.grows = true
	return tx.batch.set(bucket, tokenTime(at, m.token), []byte{}, nil)
}

// forgetTokens takes out up to limit tokens that are past their age.
func (b *batch) forgetTokens(limit int) error {
	bucket := b.btx.Bucket(bucketTokens)
	if bucket == nil {
		return nil
	}
	now := b.s.opts.Now()
	for range limit {
		k := oldestToken(bucket, now)
		if k == nil {
			return nil
		}
		key := tokenKey(string(k[9:]))
		if err := b.remove(bucket, key, bucket.Get(key)); err != nil {
			return err
		}
		if err := b.remove(bucket, k, []byte{}); err != nil {
			return err
		}
	}
	return nil
}

// forgetTokens is the chore of Housekeep for a store where nobody commits.
func (s *Store) forgetTokens(ctx context.Context) (did bool, err error) {
	due := false
	err = s.View(ctx, func(tx *Tx) error {
		if err := tx.enter(); err != nil {
			return err
		}
		defer tx.leave()
		bucket := tx.btx.Bucket(bucketTokens)
		due = bucket != nil && oldestToken(bucket, tx.Now()) != nil
		return nil
	})
	if err != nil || !due {
		return false, err
	}
	err = s.Update(ctx, func(tx *Tx) error {
		return tx.breakOff(tx.batch.forgetTokens(housekeepTokens))
	})
	return err == nil, err
}

// oldestToken returns the key of the first token by time if it is past its age.
func oldestToken(bucket *bolt.Bucket, now time.Time) []byte {
	k, _ := bucket.Cursor().First() // 'a' is before 't'
	if len(k) < 9 || k[0] != 'a' {
		return nil
	}
	at := int64(binary.BigEndian.Uint64(k[1:]))
	if now.Sub(time.Unix(0, at)) < tokenAge {
		return nil
	}
	return k
}

// tokens finds every token in both orders.
func (c *checker) tokens() error {
	bucket := c.tx.btx.Bucket(bucketTokens)
	if bucket == nil {
		return nil
	}
	return bucket.ForEach(func(k, v []byte) error {
		switch {
		case len(k) > 1 && k[0] == 't':
			at, _, err := readToken(v)
			if err != nil || bucket.Get(tokenTime(at, string(k[1:]))) == nil {
				return c.say("token %q cannot be decoded, or not be found by its time", k[1:])
			}
		case len(k) > 9 && k[0] == 'a':
			at, _, err := readToken(bucket.Get(tokenKey(string(k[9:]))))
			if err != nil || !bytes.Equal(k, tokenTime(at, string(k[9:]))) {
				return c.say("the time of token %q belongs to no token", k[9:])
			}
		default:
			return c.say("key %x belongs to no token", k)
		}
		return nil
	})
}
