package node

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// lookEvery is how often a file that may change at run time is looked at.
const lookEvery = 500 * time.Millisecond

// watchedFile is a file of the operator's that is read again when it changes. One that is wrong changes nothing.
type watchedFile struct {
	what string // "keys": for the log
	path string
	load func() error // takes what the file says now

	mu   sync.Mutex  // held while it is read
	seen os.FileInfo // as it was read; nil: it was not there
}

// watch looks at the file until ctx ends. It has been loaded once.
func (f *watchedFile) watch(ctx context.Context, c clock.Clock, log *slog.Logger) {
	for clock.Sleep(ctx, c, lookEvery) == nil {
		changed, err := f.look()
		if !changed {
			continue
		}
		if err != nil {
			log.Error("the file of "+f.what+" has changed and is invalid: its previous contents stay in force", "file", f.path, "err", err)
			continue
		}
		log.Info("the file of "+f.what+" has changed and was read", "file", f.path)
	}
}

// look reads the file if it has changed.
func (f *watchedFile) look() (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.changed() {
		return false, nil
	}
	return true, f.load()
}

// reload reads the file, changed or not: what it names may have changed.
func (f *watchedFile) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed()
	return f.load()
}

// changed reports whether the file is another one than it was when it was looked at last: written to, or replaced.
func (f *watchedFile) changed() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		now = nil // gone, as an editor has it for a moment: what it said holds on, and the next one is news
	}
	was := f.seen
	f.seen = now
	if now == nil {
		return false
	}
	return was == nil || !os.SameFile(was, now) || !was.ModTime().Equal(now.ModTime()) || was.Size() != now.Size()
}
