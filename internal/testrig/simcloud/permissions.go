package simcloud

import "github.com/touchline/touchline/sync/replica/intent"

// Deny removes the node's access to a table, or restores it.
func (l *Link) Deny(table string, denied bool) {
	l.locked(func() {
		if l.denied == nil {
			l.denied = map[string]bool{}
		}
		l.denied[table] = denied
	})
}

// DenyReads removes the node's permission to read a table's items, or restores it.
func (l *Link) DenyReads(table string, denied bool) {
	l.locked(func() {
		if l.unread == nil {
			l.unread = map[string]bool{}
		}
		l.unread[table] = denied
	})
}

// mayRead is may for reads of items.
func (l *Link) mayRead(table string) error {
	l.mu.Lock()
	unread := l.unread[table]
	l.mu.Unlock()
	if unread {
		return refuse(intent.Denied, "AccessDeniedException: not authorized to read table/%s", table)
	}
	return l.may(table)
}

// may refuses requests for tables that the node has no access to.
func (l *Link) may(table string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.denied[table] {
		return refuse(intent.Denied, "AccessDeniedException: not authorized on table/%s", table)
	}
	return nil
}

// allowed wraps do with a check: may or mayRead.
func allowed[T any](may func(table string) error, table string, do func() (T, error)) func() (T, error) {
	return func() (got T, err error) {
		if err := may(table); err != nil {
			return got, err
		}
		return do()
	}
}
