package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// crashFile names, in the environment of a child, the store that it writes to until it is killed; crashRounds says how
// many children TestCrash kills.
const (
	crashFile   = "TOUCHLINE_CRASH_FILE"
	crashRounds = "TOUCHLINE_CRASH_ROUNDS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		fmt.Fprintln(os.Stderr, crashChild(path))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

const crashWriters = 4

// crashChild has a few writers put items, each with its number, and count them in the same transaction. What is
// acknowledged is printed.
func crashChild(path string) error {
	s, err := store.Open(path, store.Options{JournalBytes: 1 << 20})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := s.Define(ctx, balls(), matches()); err != nil {
		return err
	}
	errs := make([]error, crashWriters)
	var wg sync.WaitGroup
	for w := range crashWriters {
		wg.Go(func() {
			for errs[w] == nil {
				var n int64
				if n, errs[w] = crashWrite(ctx, s, strconv.Itoa(w)); errs[w] == nil {
					_, errs[w] = fmt.Printf("%d %d\n", w, n)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func crashWrite(ctx context.Context, s *store.Store, writer string) (n int64, err error) {
	err = s.Update(ctx, func(tx *store.Tx) error {
		images, err := tx.Update(store.UpdateItem{
			Table: "matches", Key: item("match", writer), Update: "ADD n :one SET #text = :text",
			Params: withName(values(":one", 1, ":text", strings.Repeat("y", rand.IntN(3000))), "#text", "text"),
		})
		if err != nil {
			return err
		}
		n, _ = images.New["n"].Int()
		_, err = tx.Put(store.PutItem{Table: "balls", Item: ball(writer, int(n),
			"bowler", strconv.Itoa(rand.IntN(5)), "text", strings.Repeat("x", rand.IntN(3000)))})
		if err != nil || n < 50 {
			return err
		}
		_, err = tx.Delete(store.DeleteItem{Table: "balls", Key: ball(writer, int(n)-49)})
		return err
	})
	return n, err
}

// TestCrash kills a writing process, again and again on one file: what it acknowledged is there, and nothing is torn.
func TestCrash(t *testing.T) {
	rounds := 8
	if v, err := strconv.Atoi(os.Getenv(crashRounds)); err == nil {
		rounds = v
	}
	path := filepath.Join(t.TempDir(), "s.db")
	var total int64
	for range rounds {
		last := killWriter(t, path, 1+rand.IntN(300))
		checkAfterCrash(t, path, last)
		if t.Failed() {
			return
		}
		total = 0
		for _, n := range last {
			total += n
		}
	}
	t.Logf("%d crashes, %d transactions acknowledged", rounds, total)
	if total == 0 {
		t.Error("nothing was ever acknowledged")
	}
}

// killWriter starts a child and kills it when it has acknowledged some writes. It gives the last number of each
// writer.
func killWriter(t *testing.T, path string, after int) (last [crashWriters]int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashFile+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for count := 0; lines.Scan(); count++ {
		if count == after {
			_ = cmd.Process.Kill() // what it still says until it is dead counts
		}
		var w int
		var n int64
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &w, &n); err != nil {
			t.Fatalf("the child said %q", lines.Text())
		}
		last[w] = n
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return last
}

func checkAfterCrash(t *testing.T, path string, last [crashWriters]int64) {
	t.Helper()
	s, err := store.Open(path, store.Options{JournalBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	storetest.Check(t, s)
	for w, acknowledged := range last {
		writer := strconv.Itoa(w)
		n, _ := get(t, s, "matches", item("match", writer))["n"].Int()
		if n < acknowledged {
			t.Errorf("writer %d: %d in the store, %d acknowledged", w, n, acknowledged)
		}
		var items []attr.Item
		view(t, s, func(tx *store.Tx) error {
			p, err := tx.Query(store.Query{
				Table: "balls", KeyCondition: "#m = :m", Params: withName(values(":m", writer), "#m", "match"),
			})
			items = p.Items
			return err
		})
		for i, it := range items {
			if b, _ := it["ball"].Int(); b != max(1, n-48)+int64(i) {
				t.Errorf("writer %d: the counter is at %d, item %d is %d", w, n, i, b)
				break
			}
		}
		if len(items) != int(min(n, 49)) {
			t.Errorf("writer %d: the counter is at %d, there are %d items", w, n, len(items))
		}
	}
}

func withName(p expr.Params, placeholder, name string) expr.Params {
	p.Names = map[string]string{placeholder: name}
	return p
}
