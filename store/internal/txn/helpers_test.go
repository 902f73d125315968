package txn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// told is a replicator that records the writes passed to it, and does what the test wants.
type told struct {
	calls  [][]store.Write
	do     func(tx *store.Tx, writes []store.Write) error
	expire func(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error)
}

func (r *told) Compile(tx *store.Tx, writes []store.Write) error {
	kept := slices.Clone(writes)
	for i := range kept {
		kept[i].RawKey = slices.Clone(kept[i].RawKey)
		kept[i].Old, kept[i].New = slices.Clone(kept[i].Old), slices.Clone(kept[i].New)
	}
	r.calls = append(r.calls, kept)
	if r.do != nil {
		return r.do(tx, writes)
	}
	return nil
}

func (r *told) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	if r.expire == nil {
		return true, nil
	}
	return r.expire(tx, spec, key)
}

func ofPolicy(name string, p store.Policy) store.TableSpec {
	spec := storetest.Matches()
	spec.Name, spec.Policy = name, p
	return spec
}

// openTold opens a store with a table that sends, balls, and one of each kind that does not.
func openTold(t *testing.T) (*store.Store, *told) {
	t.Helper()
	internal := ofPolicy("internal", store.PolicyIntent)
	internal.Internal = true
	s := storetest.Open(t, storetest.Balls(), storetest.Matches(), internal,
		ofPolicy("newest", store.PolicyNewest), ofPolicy("state", store.PolicyState),
		ofPolicy("local", store.PolicyLocal), ofPolicy("lock", store.PolicyLock))
	r := &told{}
	s.Replicate(r)
	return s, r
}

var errNotNow = errors.New("not now")
