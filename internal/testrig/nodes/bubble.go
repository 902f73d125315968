package nodes

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Check runs rapid.Check the given number of times, once with -short, and always with the same seed, so the test is repeatable. The flags
// -rapid.checks and -rapid.seed make it search further.
func Check(t *testing.T, times int, prop func(*rapid.T)) {
	t.Helper()
	if testing.Short() {
		times = 5 // rapid does a fifth of it
	}
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(times), "rapid.seed": "1"} {
		f := flag.Lookup(name)
		if was := f.Value.String(); was == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Value.Set(was) })
		}
	}
	rapid.Check(t, prop)
}

// longFolder returns a folder in dir whose name is too long for a node's admin socket: a goroutine that accepts connections of a socket
// would stop virtual time.
func longFolder(dir string) string { return filepath.Join(dir, strings.Repeat("d", 120)) }

// openStoreIn opens a node's store in a folder, with the node's clock, corrected by the cloud's, and without syncing to disk.
func (f *Fleet) openStoreIn(name, folder string) *store.Store {
	f.T.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		f.T.Fatal(err)
	}
	clock, link := f.clockOf(name), f.Links[name] // read here, because the maps grow while other nodes run
	return storetest.OpenWith(f.T, filepath.Join(folder, node.StoreFile), store.Options{
		NoSync: true, Now: func() time.Time { return clock.Wall().Add(link.Skew()) },
	})
}

// Pass lets time pass, and waits until everything due by then is done.
func (f *Fleet) Pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// View reads a node's store.
func (f *Fleet) View(at string, do func(tx *store.Tx) error) {
	f.T.Helper()
	if err := f.stores[at].View(f.T.Context(), do); err != nil {
		f.T.Fatal(err)
	}
}

// Rows returns the items of a table by the values of their keys, as a node has them; for "", as the cloud has them, without the
// attributes that nodes add.
func (f *Fleet) Rows(at, table string) map[string]attr.Item {
	f.T.Helper()
	var key store.KeySpec
	for _, spec := range node.Schema([]*app.App{f.options.App()}).Tables {
		if spec.Name == table {
			key = spec.Key
		}
	}
	rows, err := rowsOf(f.stores[at], f.Cloud, table, key.Partition.Name, key.Sort.Name)
	if err != nil {
		f.T.Fatal(err)
	}
	return rows
}

// rowsOf returns the rows of a table by the values of their key attributes: of a store or, if that is nil, of a cloud.
func rowsOf(s *store.Store, cloud *simcloud.Cloud, table, partition, sort string) (map[string]attr.Item, error) {
	rows := map[string]attr.Item{}
	keep := func(it attr.Item) { rows[it[partition].Str()+" "+it[sort].Str()] = it }
	if s == nil {
		for _, it := range cloud.Items(table) {
			it, _ = intent.Split(it)
			keep(it)
		}
		return rows, nil
	}
	err := s.View(context.Background(), func(tx *store.Tx) error {
		for it, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			keep(it)
		}
		return nil
	})
	return rows, err
}
