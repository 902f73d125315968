package simcloud

import (
	"context"
	"time"

	"github.com/touchline/touchline/sync/replica/remote"
)

// Table implements remote.Cloud.
func (l *Link) Table(ctx context.Context, name string) (remote.TableState, error) {
	return exchange(ctx, l, kindRead, allowed(l.may, name, func() (remote.TableState, error) { return l.net.Cloud.Table(name) }))
}

// Transactions implements remote.Cloud.
func (l *Link) Transactions(ctx context.Context) (bool, error) {
	return exchange(ctx, l, kindRead, func() (bool, error) { return l.net.Cloud.transactions(), nil })
}

// Skew implements remote.Cloud. As in sync/dynamo it is what the last answer has shown, and what the machine's clocks say has happened
// since: it follows at once if the wall clock is set.
func (l *Link) Skew() time.Duration {
	l.mu.Lock()
	ahead, shown := l.ahead, l.shown
	l.mu.Unlock()
	if !shown {
		return 0
	}
	d := ahead + l.boot() - time.Duration(l.now().UnixNano())
	if d.Abs() < time.Second {
		return 0 // a Date has whole seconds: less than that corrects nothing
	}
	return d
}

// KnowsServerTime implements remote.Cloud.
func (l *Link) KnowsServerTime() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown
}

// Usage implements remote.Cloud. Links do not count.
func (l *Link) Usage() remote.Usage { return remote.Usage{} }

// Forget makes the node forget the server's clock, as after a restart.
func (l *Link) Forget() { l.locked(func() { l.shown = false }) }

// answered takes the server's time from an answer. Answers have it in whole seconds.
func (l *Link) answered() {
	ahead := time.Duration(l.net.Cloud.options.Now().Truncate(time.Second).UnixNano()) - l.boot()
	l.locked(func() { l.ahead, l.shown = ahead, true })
}
