package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// Unreadable is an item that an application could not decode. The item itself is stored well: another program, another version or a person
// wrote it in a form that the application does not know. Readers leave it out and note it here, so that an operator learns of it.
type Unreadable struct {
	Table string
	Key   attr.Item
	Why   string    // for people
	Since time.Time // when a reader first met it
}

// maxUnreadable is how many unreadable items a store remembers. More than a few hundred of them have one cause.
const maxUnreadable = 500

// unreadables holds the noted items in memory. After a restart readers note them again as they meet them.
type unreadables struct {
	mu    sync.Mutex
	items map[string]noted // by table and encoded key
	full  bool             // another one was left out
	tell  atomic.Pointer[func(Unreadable)]
}

// noted is an unreadable item with a digest, by which it is known whether the item has changed since.
type noted struct {
	Unreadable
	digest [sha256.Size]byte
}

// OnUnreadable sets a function that is called once for each item that readers cannot decode, and again if it has been forgotten since. It
// is called inside the reader's transaction and must not block. Set it once, before the first reader.
func (s *Store) OnUnreadable(fn func(Unreadable)) { s.unreadables.tell.Store(&fn) }

// NoteUnreadable remembers that the application cannot decode an item that it has read, of which item has at least the key. The item is
// forgotten once it has changed or is gone: see Store.UnreadableItems.
func (tx *Tx) NoteUnreadable(table string, item attr.Item, why error) {
	tx.unreadable++
	t, err := tx.table(table)
	if err != nil {
		return
	}
	key := attr.Item{}
	for _, a := range t.Key.Attrs {
		key[a.Name] = item[a.Name]
	}
	place, err := t.RequestKey(key)
	if err != nil {
		return
	}
	whole, err := tx.Get(table, key)
	if err != nil || whole == nil {
		return
	}
	u := Unreadable{Table: table, Key: key, Why: why.Error(), Since: tx.Now()}
	if !tx.s.unreadables.add(table+"\x00"+string(place), noted{u, digestOf(whole)}) {
		return
	}
	if tell := tx.s.unreadables.tell.Load(); tell != nil {
		(*tell)(u)
	}
}

// Unreadable returns how often NoteUnreadable was called in this transaction. What depends on all items that a reader met must not be derived
// if the number has grown meanwhile.
func (tx *Tx) Unreadable() int { return tx.unreadable }

// add remembers an item, and reports whether it is a new one.
func (u *unreadables) add(place string, n noted) (isNew bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	was, known := u.items[place]
	if known {
		n.Since = was.Since
		u.items[place] = n
		return false
	}
	if len(u.items) >= maxUnreadable {
		u.full = true
		return false
	}
	if u.items == nil {
		u.items = map[string]noted{}
	}
	u.items[place] = n
	return true
}

func digestOf(item attr.Item) [sha256.Size]byte { return sha256.Sum256(attr.AppendJSON(nil, item)) }

// UnreadableItems returns the items that readers could not decode since the store was opened and that are still as they were then, by table
// and key. more reports that there are others, beyond what a store remembers. Items that have changed or are gone are forgotten.
func (s *Store) UnreadableItems(ctx context.Context) (all []Unreadable, more bool, err error) {
	known, full := s.unreadables.snapshot()
	if len(known) == 0 {
		return nil, full, nil
	}
	err = s.View(ctx, func(tx *Tx) error {
		for place, n := range known {
			now, err := tx.Get(n.Table, n.Key)
			switch {
			case err != nil && !fault.Is(err, fault.NotFound):
				return err
			case now != nil && digestOf(now) == n.digest:
				all = append(all, n.Unreadable)
			default:
				s.unreadables.forget(place, n)
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Unreadable) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), bytes.Compare(attr.AppendJSON(nil, a.Key), attr.AppendJSON(nil, b.Key)))
	})
	return all, full, err
}

func (u *unreadables) snapshot() (known map[string]noted, full bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.items), u.full
}

// forget removes an item, unless a reader has noted it again in another form.
func (u *unreadables) forget(place string, n noted) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.items[place].digest == n.digest {
		delete(u.items, place)
		u.full = false // another reader notes what was left out
	}
}
