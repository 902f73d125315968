package store

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// tokenStore opens a store with some tokens, ball by ball, and a clock that the test moves.
func tokenStore(t *testing.T, now *time.Time, tokens int) *Store {
	s, err := Open(filepath.Join(t.TempDir(), "s.db"), Options{NoSync: true, Now: func() time.Time { return *now }})
	if err == nil {
		err = s.Define(t.Context(), TableSpec{Name: "balls", Key: KeySpec{Partition: KeyAttr{Name: "ball", Type: KeyNumber}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		problems, err := s.CheckCopy(context.Background(), nil)
		if err != nil || len(problems) > 0 {
			t.Errorf("check: %v, %v", problems, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range tokens {
		transactBall(t, s, i, strconv.Itoa(i))
	}
	return s
}

func transactBall(t *testing.T, s *Store, n int, token string) {
	t.Helper()
	it := attr.Item{"ball": attr.Int(int64(n))}
	err := s.Update(t.Context(), func(tx *Tx) error {
		return tx.TransactWrite(TransactWrite{Items: []WriteItem{{Put: &PutItem{Table: "balls", Item: it}}}, Token: token})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tokenKeys returns the number of keys in the bucket: two for each token.
func tokenKeys(t *testing.T, s *Store) (n int) {
	t.Helper()
	err := s.engine.Bolt.View(func(btx *bolt.Tx) error {
		if b := btx.Bucket(format.BucketTokens); b != nil {
			n = b.Stats().KeyN
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTokensAreForgottenInSlices: a commit forgets a limited number, and only those that are old enough.
func TestTokensAreForgottenInSlices(t *testing.T) {
	now := time.Unix(1_563_096_600, 0)
	s := tokenStore(t, &now, txn.TokenSlice+20)
	seq := s.Seq()
	now = now.Add(format.TokenAge - 1)
	transactBall(t, s, 0, "young")
	if n := tokenKeys(t, s); n != 2*(txn.TokenSlice+21) {
		t.Fatalf("%d keys before their time", n)
	}
	now = now.Add(1)
	transactBall(t, s, 0, "")
	if n := tokenKeys(t, s); n != 2*21 {
		t.Fatalf("%d keys after one commit", n)
	}
	transactBall(t, s, 0, "")
	if n := tokenKeys(t, s); n != 2 {
		t.Fatalf("%d keys after two commits", n)
	}
	if n := s.Seq() - seq; n != 3 {
		t.Errorf("the journal tells of tokens: %d records for 3 puts", n)
	}
}

// TestTokensInAnOldFile: a file from before there were tokens has no bucket for them.
func TestTokensInAnOldFile(t *testing.T) {
	now := time.Unix(1_563_096_600, 0)
	s := tokenStore(t, &now, 0)
	if err := s.engine.Bolt.Update(func(btx *bolt.Tx) error { return btx.DeleteBucket(format.BucketTokens) }); err != nil {
		t.Fatal(err)
	}
	transactBall(t, s, 1, "")
	transactBall(t, s, 1, "t")
	transactBall(t, s, 1, "t")
	if n := tokenKeys(t, s); n != 2 {
		t.Errorf("%d keys", n)
	}
}

func TestCheckFindsDamagedTokens(t *testing.T) {
	damages := map[string]func(b *bolt.Bucket) error{
		"value":   func(b *bolt.Bucket) error { return b.Put(format.TokenKey("0"), []byte{1, 2}) },
		"time":    func(b *bolt.Bucket) error { return b.Put(format.TokenTime(7, "0"), []byte{}) },
		"no time": func(b *bolt.Bucket) error { k, _ := b.Cursor().First(); return b.Delete(k) },
		"key":     func(b *bolt.Bucket) error { return b.Put([]byte("x"), []byte{}) },
	}
	now := time.Unix(1_563_096_600, 0)
	for name, damage := range damages {
		s, err := Open(filepath.Join(t.TempDir(), "s.db"), Options{NoSync: true, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Define(t.Context(), TableSpec{Name: "balls", Key: KeySpec{Partition: KeyAttr{Name: "ball", Type: KeyNumber}}}); err != nil {
			t.Fatal(err)
		}
		transactBall(t, s, 0, "0")
		if err := s.engine.Bolt.Update(func(btx *bolt.Tx) error { return damage(btx.Bucket(format.BucketTokens)) }); err != nil {
			t.Fatal(err)
		}
		problems, err := s.CheckCopy(t.Context(), nil)
		if err != nil || len(problems) == 0 || problems[0].Where != "tokens" {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
