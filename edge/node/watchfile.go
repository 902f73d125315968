package node

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// lookEvery is how often watched files are checked for changes.
const lookEvery = 500 * time.Millisecond

// watchedFile is an operator's file that is read again when it changes. An invalid version leaves the previous one in force.
type watchedFile struct {
	what string // name in the log: "keys"
	path string
	load func() error // reads and applies the file

	mu   sync.Mutex  // held while reading
	seen os.FileInfo // when last checked; nil: the file did not exist
}

// watch checks the file until ctx ends. It must have been loaded once.
func (f *watchedFile) watch(ctx context.Context, c clock.Clock, log *slog.Logger) {
	for clock.Sleep(ctx, c, lookEvery) == nil {
		changed, err := f.readChanged()
		if !changed {
			continue
		}
		if err != nil {
			log.Error("the file of "+f.what+" has changed and is invalid: its previous contents stay in force", "file", f.path, "err", err)
			continue
		}
		log.Info("the file of "+f.what+" has changed and was reloaded", "file", f.path)
	}
}

// readChanged reads the file if it has changed.
func (f *watchedFile) readChanged() (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.hasChanged() {
		return false, nil
	}
	return true, f.load()
}

// reload reads the file, changed or not: files that it names may have changed.
func (f *watchedFile) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hasChanged()
	return f.load()
}

// hasChanged reports whether the file was written to or replaced since the last call.
func (f *watchedFile) hasChanged() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		now = nil // missing, as briefly while an editor saves: keep the contents, the next file counts as changed
	}
	was := f.seen
	f.seen = now
	if now == nil {
		return false
	}
	return was == nil || !os.SameFile(was, now) || !was.ModTime().Equal(now.ModTime()) || was.Size() != now.Size()
}
