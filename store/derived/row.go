package derived

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// By is the attribute with the signature of a derived row. Other programs ignore it, and drop it when they replace the row.
const By = "derivedBy"

// Row is a row with derived values, as it is and as the facts say.
type Row struct {
	Key    attr.Item
	Was    attr.Item // the row as it was read; nil: there is none
	Before attr.Item // the derived values in Was; nil: the attributes of Was that After names
	After  attr.Item // the derived values by the facts; nil: there should be no row
	Set    attr.Item // the attributes to write; nil: After
	Blank  bool      // nothing has been counted into Was yet
}

// derivedBefore returns the derived values as they are.
func (r *Row) derivedBefore() attr.Item {
	if r.Before != nil || r.Was == nil {
		return r.Before
	}
	before := attr.Item{}
	for name := range r.After {
		if v, ok := r.Was[name]; ok {
			before[name] = v
		}
	}
	return before
}

// Values returns the derived values as they are, and as the facts say; nil: no row.
func (r *Row) Values() (is, shall attr.Item) { return r.derivedBefore(), r.After }

// set returns the attributes to write, without the signature.
func (r *Row) set() attr.Item {
	if r.Set != nil {
		return r.Set
	}
	return r.After
}

// differs reports whether the row is not as the facts say.
func (r *Row) differs() bool {
	if r.Was == nil || r.After == nil {
		return (r.Was == nil) != (r.After == nil)
	}
	return !attr.EqualItems(r.derivedBefore(), r.After)
}

// Signature returns the value of By for a row with these derived values.
func Signature(key, values attr.Item) attr.Value {
	sum := sha256.Sum256(attr.AppendJSON(attr.AppendJSON(nil, key), values))
	return attr.S("touchline " + hex.EncodeToString(sum[:8]))
}

// isSigned reports whether the row carries the signature of its present values.
func (r *Row) isSigned() bool {
	return r.Was[By].Equal(Signature(r.Key, r.derivedBefore()))
}

// write returns the write that makes the row as the facts say, on condition that it still is as it was read.
func (r *Row) write(h table.Handle) store.WriteItem {
	if r.After == nil {
		return h.Delete(r.Key, h.IfSame(r.Was, append(slices.Sorted(maps.Keys(r.derivedBefore())), By)...))
	}
	sign := Signature(r.Key, r.After)
	if r.Was == nil {
		row := maps.Clone(r.Key)
		maps.Copy(row, r.set())
		row[By] = sign
		return h.Create(row)
	}
	names := slices.Sorted(maps.Keys(r.set()))
	only := h.IfSame(r.Was, append(slices.Clone(names), By)...)
	update := []string{By + " = :" + By} // the name stands first and as it is: see IsUpdate
	only.Values[":"+By] = sign
	for _, name := range names {
		update = append(update, "#"+name+" = :"+name)
		only.Values[":"+name] = r.set()[name]
	}
	return h.Update(r.Key, "SET "+strings.Join(update, ", "), only)
}

// IsUpdate reports whether an update expression, whose names and values the store may have renamed, is one that writes a derived row.
func IsUpdate(update string) bool { return strings.HasPrefix(update, "SET "+By+" = ") }

// mostProved is how many rows a memory holds; beyond it, the first to come is forgotten.
const mostProved = 100_000

// memory is which rows this run has seen with the values that it would have written itself.
type memory struct {
	mu   sync.Mutex
	rows map[string]bool // by signature
}

// proves reports whether the row has values which the facts have confirmed in this run.
func (m *memory) proves(r *Row) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[Signature(r.Key, r.derivedBefore()).Str()]
}

// learn remembers a row that is as the facts say. A signed row proves itself.
func (m *memory) learn(r *Row) {
	if r.Was == nil || r.isSigned() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil {
		m.rows = map[string]bool{}
	}
	for sign := range m.rows {
		if len(m.rows) < mostProved {
			break
		}
		delete(m.rows, sign)
	}
	m.rows[Signature(r.Key, r.derivedBefore()).Str()] = true
}
