package simcloud

import (
	"context"
	"time"

	"github.com/touchline/touchline/sync/replica/remote"
)

// Table implements remote.Cloud.
func (l *Link) Table(ctx context.Context, name string) (remote.TableState, error) {
	return exchange(ctx, l, kindRead, allowed(l, name, func() (remote.TableState, error) { return l.net.Cloud.Table(name) }))
}

// Transactions implements remote.Cloud.
func (l *Link) Transactions(ctx context.Context) (bool, error) {
	return exchange(ctx, l, kindRead, func() (bool, error) { return l.net.Cloud.transactions(), nil })
}

// Skew implements remote.Cloud. Answers have the time in whole seconds.
func (l *Link) Skew() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skew
}

// Synced implements remote.Cloud.
func (l *Link) Synced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown
}

// Usage implements remote.Cloud. Links do not count.
func (l *Link) Usage() remote.Usage { return remote.Usage{} }

// Forget makes the node forget the server's clock, as after a restart.
func (l *Link) Forget() { l.locked(func() { l.skew, l.shown = 0, false }) }

func (l *Link) answered() {
	server, node := l.net.Cloud.options.Now(), l.now()
	l.locked(func() { l.skew, l.shown = server.Truncate(time.Second).Sub(node), true })
}
