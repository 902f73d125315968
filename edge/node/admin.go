package node

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// adminFile is the name of the admin socket beside the database.
const adminFile = "admin.sock"

// maxSocketPath is the longest path, in bytes, that every system accepts for a unix socket (108 including the terminating zero on
// Linux, 104 on others).
const maxSocketPath = 103

// adminSocket returns the path of the admin socket of the node with its data in dir.
func adminSocket(dir string) (string, error) {
	path := filepath.Join(dir, adminFile)
	if len(path) > maxSocketPath {
		return "", fault.New(fault.Invalid, "long_path",
			"%s is too long for a socket: %d bytes, at most %d; use a data directory with a shorter path", path, len(path), maxSocketPath)
	}
	return path, nil
}

// listenAdmin creates the admin socket of the node that holds the store in dir, replacing one left by a node that died. The socket is
// created in a private folder and moved when its mode is set, so that nobody can connect before.
func listenAdmin(ctx context.Context, dir string) (net.Listener, error) {
	path, err := adminSocket(dir)
	if err != nil {
		return nil, err
	}
	private := filepath.Join(dir, ".admin")
	if err := os.RemoveAll(private); err != nil {
		return nil, adminError(path, err)
	}
	if err := os.Mkdir(private, 0o700); err != nil {
		return nil, adminError(path, err)
	}
	defer os.Remove(private) //nolint:errcheck // an empty folder is harmless
	draft := filepath.Join(private, "s")
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "unix", draft)
	if err != nil {
		return nil, adminError(path, err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false) // it is renamed below
	err = os.Chmod(draft, 0o600)
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		_ = os.Remove(draft)
		return nil, adminError(path, errors.Join(err, ln.Close()))
	}
	return &adminListener{ln, path}, nil
}

func adminError(path string, err error) error {
	return fault.Wrap(err, fault.Unavailable, "no_admin", "cannot create the admin socket %s: %s", path, ReasonOf(err))
}

// adminListener removes its socket when it is closed. The store is still locked then, so no other node has created one.
type adminListener struct {
	net.Listener
	path string
}

// Close implements net.Listener.
func (l *adminListener) Close() error {
	_ = os.Remove(l.path)
	return l.Listener.Close()
}

// startAdmin serves the admin socket until stop is called, which waits for its end. A node works without the socket, so a failure to
// create it is only logged.
func (n *Node) startAdmin(ctx context.Context) (stop func()) {
	ln, err := listenAdmin(ctx, filepath.Dir(n.store.Path()))
	if err != nil {
		n.parts.Log.Warn("no admin socket", "err", err)
		return func() {}
	}
	return Background(context.WithoutCancel(ctx), func(ctx context.Context) {
		if err := admin.Run(ctx, ln, n.api, n.adminConfig()); err != nil {
			n.parts.Log.Warn("the admin socket has ended", "err", err)
		}
	})
}

// adminConfig returns what the socket offers: maintenance of the store, and the applications' commands.
func (n *Node) adminConfig() admin.Config {
	c := admin.Config{Node: n.upkeep, Logger: n.parts.Log}
	for _, a := range n.apps {
		c.Commands = append(c.Commands, a.Commands...)
	}
	return c
}

// maintenance runs the admin socket's store operations, one at a time.
type maintenance struct {
	store *store.Store
	busy  sync.Mutex
}

// Maintain starts a store operation of which only one may run at a time. done ends it.
func (m *maintenance) Maintain() (done func(), err error) {
	if !m.busy.TryLock() {
		return nil, fault.New(fault.Conflict, "busy", "the node is busy with another backup, check or migration")
	}
	return m.busy.Unlock, nil
}

// Backup implements admin.Maintenance.
func (m *maintenance) Backup(ctx context.Context, path string, progress func(done, total int64)) (store.BackupInfo, error) {
	done, err := m.Maintain()
	if err != nil {
		return store.BackupInfo{}, err
	}
	defer done()
	path, err = BackupTarget(filepath.Dir(m.store.Path()), path, clock.Real().Wall())
	if err != nil {
		return store.BackupInfo{}, err
	}
	return m.store.Backup(ctx, path, progress)
}

// Check implements admin.Maintenance.
func (m *maintenance) Check(ctx context.Context, progress func(where string)) ([]store.Problem, error) {
	done, err := m.Maintain()
	if err != nil {
		return nil, err
	}
	defer done()
	return m.store.CheckCopy(ctx, progress)
}

// tellCompaction logs whether opening the store compacted it.
func (n *Node) tellCompaction() {
	info, done, err := n.store.Compaction()
	switch {
	case err != nil:
		n.parts.Log.Warn("the database is half empty and could not be compacted", "err", err)
	case done:
		n.parts.Log.Info("database compacted", "before", info.Before, "after", info.After, "took", time.Duration(info.TookSeconds*float64(time.Second)))
	}
}

// tellDamages logs what is wrong with the first pages of the database, at each start until somebody has read of it.
func (n *Node) tellDamages() {
	damages := n.store.Damages()
	for i := range damages {
		n.parts.Log.Error("the database was damaged", "what", damages[i].Words())
	}
}
