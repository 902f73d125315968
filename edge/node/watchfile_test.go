package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// A file is read again only after it was written or replaced; while it is invalid or missing the previous contents stay in force.
func TestWatchedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules")
	write := func(text string) {
		t.Helper()
		draft := path + ".new"
		if err := errors.Join(os.WriteFile(draft, []byte(text), 0o600), os.Rename(draft, path)); err != nil {
			t.Fatal(err)
		}
	}
	holds, reads := "", 0
	f := &watchedFile{what: "rules", path: path, load: func() error {
		reads++
		raw, err := os.ReadFile(path)
		if err == nil && bytes.Contains(raw, []byte("wrong")) {
			err = errors.New("it is wrong")
		}
		if err == nil {
			holds = string(raw)
		}
		return err
	}}
	write("a")
	f.hasChanged()
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	c := clock.NewStepped(time.Unix(0, 0))
	defer c.Join()()
	var told bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	leave := c.Join()
	go func() {
		defer close(done)
		defer leave()
		f.watch(ctx, c, slog.New(slog.NewTextHandler(&told, nil)))
	}()
	sleep := func(d time.Duration) {
		if err := clock.Sleep(t.Context(), c, d); err != nil {
			t.Fatal(err)
		}
	}
	sleep(lookEvery / 2) // so that it never checks at the same instant as the test
	for _, step := range []struct {
		change func()
		holds  string
		reads  int
	}{
		{func() {}, "a", 1},
		{func() { write("b") }, "b", 2},
		{func() { write("wrong") }, "b", 3},
		{func() { os.Remove(path) }, "b", 3},
		{func() { write("c") }, "c", 4},
		{func() { write("d") }, "d", 5}, // same length as before
	} {
		step.change()
		sleep(2 * lookEvery)
		if holds != step.holds || reads != step.reads {
			t.Errorf("%q after %d readings, want %q after %d", holds, reads, step.holds, step.reads)
		}
	}
	stop()
	<-done
	if n := strings.Count(told.String(), "has changed and is invalid"); n != 1 {
		t.Errorf("told %d times that the file is invalid: %s", n, told.String())
	}
}
