package store

import (
	"crypto/sha256"
	"encoding/binary"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// CheckWrites refuses actions of a transaction that are invalid in themselves, as TransactWrite does before it looks at any table. It is
// for callers that have found an error in a later action, because the first error is the one to report.
func (s *Store) CheckWrites(items []WriteItem) error {
	if len(items) == 0 {
		return nil
	}
	t := TransactWrite{Items: items}
	_, err := t.writes(&Tx{s: s}) // binding needs only the expression cache and the budget
	return err
}

// writes returns the bound actions of a transaction. It first refuses every fault that can be found without looking at a table; of
// several, it reports that of the first action.
func (t *TransactWrite) writes(tx *Tx) ([]write, error) {
	if err := refusal.Count(len(t.Items), maxTransactItems, "TransactItems"); err != nil {
		return nil, err
	}
	if err := checkToken(t.Token); err != nil {
		return nil, err
	}
	writes := make([]write, len(t.Items))
	bytes := 0
	for i := range t.Items {
		w, err := t.Items[i].write(i)
		if err != nil {
			return nil, err
		}
		if err := w.checkBare(); err != nil {
			return nil, err
		}
		if err := w.bind(tx); err != nil {
			return nil, err
		}
		bytes += attr.Size(w.subject) + attr.Size(w.request.Params.Values)
		writes[i] = w
	}
	if bytes > maxTransactBytes {
		return nil, refusal.Invalid("Transaction payload size cannot exceed 4MB. Payload Size: %d", bytes)
	}
	return writes, nil
}

// write returns the one action in a WriteItem. number is its position in the request, from 0.
func (it *WriteItem) write(number int) (w write, err error) {
	n := 0
	if it.Put != nil {
		w, n = it.Put.write(), n+1
	}
	if it.Update != nil {
		w, n = it.Update.write(), n+1
	}
	if it.Delete != nil {
		w, n = it.Delete.write(), n+1
	}
	if it.Check != nil {
		w, n = it.Check.write(), n+1
	}
	if n != 1 || w.op == opCheck && w.request.Condition == "" {
		return w, refusal.Invalid("action %d of a transaction must be one of Put, Update, Delete and Check, a Check with a condition", number)
	}
	return w, nil
}

// twice reports whether two actions are on one item. It skips actions whose key could not be made.
func twice(writes []write) bool {
	seen := make(map[itemID]bool, len(writes))
	for i := range writes {
		if writes[i].key == nil {
			continue
		}
		id := writes[i].id()
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}

// itemID identifies an item in the store.
type itemID struct {
	table uint32
	key   string
}

func (w *write) id() itemID { return itemID{w.table.ID, string(w.key)} }

// checkToken refuses a token that is too long.
func checkToken(token string) error {
	if utf8.RuneCountInString(token) > format.MaxToken {
		return refusal.Constraint("ClientRequestToken", "Member must have length less than or equal to 36")
	}
	return nil
}

// newMark hashes the content of a request: equal requests have equal marks.
func newMark(token string, writes []write) format.Mark {
	if token == "" {
		return format.Mark{}
	}
	h := sha256.New()
	var b []byte
	for i := range writes {
		w := &writes[i]
		b = append(b[:0], byte(w.op))
		b = fields.Append(b, w.name)
		b = w.request.Append(b)
		b = attr.Encode(b, w.subject)
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(b)))) // a hash never returns an error
		_, _ = h.Write(b)
	}
	m := format.Mark{Token: token}
	h.Sum(m.Hash[:0])
	return m
}
