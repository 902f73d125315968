package txn

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/format"
)

// ForgetAllTokens removes all tokens, whatever their age.
func (tx *Tx) ForgetAllTokens() error {
	bucket := tx.Btx.Bucket(format.BucketTokens)
	if bucket == nil {
		return nil
	}
	keys, values := firstEntries(bucket, math.MaxInt)
	for i, k := range keys {
		if err := tx.Batch.remove(bucket, k, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// DoneBefore reports whether the request was done with this token within TokenAge. It refuses another request with the same token.
func (tx *Tx) DoneBefore(m format.Mark) (bool, error) {
	bucket := tx.Btx.Bucket(format.BucketTokens)
	if m.Token == "" || bucket == nil {
		return false, nil
	}
	v := bucket.Get(format.TokenKey(m.Token))
	if v == nil {
		return false, nil
	}
	at, hash, err := format.ReadToken(v)
	if err != nil {
		return false, err
	}
	if tx.Now().Sub(time.Unix(0, at)) >= format.TokenAge {
		return false, nil
	}
	if !bytes.Equal(hash, m.Hash[:]) {
		return false, fault.New(fault.Conflict, "idempotent_parameter_mismatch", "DynamoDB rejected the request because you "+
			"retried a request with a different payload but with an idempotent token that was already used.")
	}
	return true, nil
}

// Remember records that a request was done. An error means that the transaction cannot be committed.
func (tx *Tx) Remember(m format.Mark) error {
	if m.Token == "" {
		return nil
	}
	return tx.BreakOff(tx.rememberSteps(m))
}

func (tx *Tx) rememberSteps(m format.Mark) error {
	bucket, err := tx.Btx.CreateBucketIfNotExists(format.BucketTokens)
	if err != nil {
		return err
	}
	key, at := format.TokenKey(m.Token), tx.Now().UnixNano()
	old := bucket.Get(key)
	if old != nil { // past its age but not forgotten yet
		before, _, err := format.ReadToken(old)
		if err != nil {
			return err
		}
		if err := tx.Batch.remove(bucket, format.TokenTime(before, m.Token), []byte{}); err != nil {
			return err
		}
	}
	v := binary.BigEndian.AppendUint64([]byte{format.TokenVersion}, uint64(at))
	if err := tx.Batch.Set(bucket, key, append(v, m.Hash[:]...), old); err != nil {
		return err
	}
	failpoint.Hit(failpoint.TokenKey)
	tx.Batch.tokens++
	tx.Batch.Grows = true
	return tx.Batch.Set(bucket, format.TokenTime(at, m.Token), []byte{}, nil)
}

// forgetTokens removes up to limit tokens that are past their age.
func (b *batch) forgetTokens(limit int) error {
	bucket := b.btx.Bucket(format.BucketTokens)
	if bucket == nil {
		return nil
	}
	now := b.s.Opts.Now()
	for range limit {
		k := oldestToken(bucket, now)
		if k == nil {
			return nil
		}
		key := format.TokenKey(string(k[9:]))
		if err := b.remove(bucket, key, bucket.Get(key)); err != nil {
			return err
		}
		if err := b.remove(bucket, k, []byte{}); err != nil {
			return err
		}
	}
	return nil
}

// oldestToken returns the time key of the oldest token if it is past its age, else nil.
func oldestToken(bucket *bolt.Bucket, now time.Time) []byte {
	k, _ := bucket.Cursor().First() // 'a' sorts before 't'
	if len(k) < 9 || k[0] != 'a' {
		return nil
	}
	at := int64(binary.BigEndian.Uint64(k[1:]))
	if now.Sub(time.Unix(0, at)) < format.TokenAge {
		return nil
	}
	return k
}
