package httpapi

import (
	"cmp"
	"context"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Update runs do in a write transaction, then waits for the cloud if the client asks for that (Prefer: wait=5). It returns an error if
// the cloud refuses the write within that time.
func Update(c *gin.Context, do func(tx *store.Tx) error) error {
	s := serverOf(c)
	seq, wrote, err := s.update(c, nil, do)
	if err != nil {
		return err
	}
	if e := entryOf(c); e != nil && e.before != nil {
		return s.finishWrite(c, *e.before, true)
	}
	return s.finishWrite(c, seq, wrote)
}

// update runs a transaction. It returns the journal's sequence after it, and whether it wrote any record. once are the rows of the
// request's Idempotency-Key; nil: it has none.
func (s *Server) update(c *gin.Context, once []ask.Row, do func(tx *store.Tx) error) (seq uint64, wrote bool, err error) {
	ctx := c.Request.Context()
	err = ask.ConsultOnce(ctx, once, func(look ask.Look) error {
		return s.cfg.Store.Update(ctx, func(tx *store.Tx) error {
			tx.OnAbsent(look)
			before := tx.Seq()
			err := do(tx)
			seq = tx.Seq()
			wrote = seq != before
			if err == nil && wrote {
				err = cmp.Or(s.hear(c, tx), noteEntry(c, tx, seq))
			}
			return err
		})
	})
	return seq, wrote, err
}

// View runs do in a read transaction. If it reads much, it waits until few other such reads run (store.ViewShared). If do returns that something does not exist or is not allowed, what it did not find is read from
// the cloud, and do runs again (package ask). The same holds for all functions of this package that run transactions.
func View(c *gin.Context, do func(tx *store.Tx) error) error {
	return ask.View(c.Request.Context(), serverOf(c).cfg.Store.ViewShared, do)
}

// Read is View for a function that returns a value.
func Read[T any](c *gin.Context, read func(tx *store.Tx) (T, error)) (out T, err error) {
	err = View(c, func(tx *store.Tx) (err error) {
		out, err = read(tx)
		return err
	})
	return out, err
}

// AnswerView answers with the value that read returns.
func AnswerView[T any](c *gin.Context, read func(tx *store.Tx) (T, error)) error {
	body, err := encodedView(c, read)
	if err != nil {
		return err
	}
	writeTagged(c, jsonType, body)
	return nil
}

// encodedView encodes the value that read returns, within the transaction, so that few large answers are made at a time.
func encodedView[T any](c *gin.Context, read func(tx *store.Tx) (T, error)) ([]byte, error) {
	return Read(c, func(tx *store.Tx) ([]byte, error) {
		out, err := read(tx)
		if err != nil {
			return nil, err
		}
		return encode(out)
	})
}

// Change is Update for a function that returns a value.
func Change[T any](c *gin.Context, change func(tx *store.Tx) (T, error)) (out T, err error) {
	err = Update(c, func(tx *store.Tx) (err error) {
		out, err = change(tx)
		return err
	})
	return out, err
}

// Rows reads a page of a table. It skips rows that this version cannot decode.
func Rows[T any](r *Request, p *bind.Page, read func(tx *store.Tx) (store.Page, error)) (all []T, next string, err error) {
	err = r.View(func(tx *store.Tx) error {
		found, err := read(tx)
		if err != nil {
			return err
		}
		for _, item := range found.Items {
			var row T
			if attr.Unmarshal(item, &row) == nil {
				all = append(all, row)
			}
		}
		next = bind.Cursor(found.LastKey)
		return nil
	})
	if p.Start != nil && fault.Is(err, fault.Invalid) {
		err = bind.BadCursor()
	}
	return all, next, err
}

// Ensure fetches rows of a table, or whole partitions, that another node may have written. It is nil on a node without a cloud, where
// all rows are local.
type Ensure func(ctx context.Context, table string, keys ...attr.Item) error

// Keys is Rows for the rows that a request depends on.
func (e Ensure) Keys(c *gin.Context, table string, keys ...attr.Item) error {
	return e.Needs(c, table, func(*store.Tx) ([]attr.Item, error) { return keys, nil })
}

// Needs is Keys for rows that depend on others: needs names them, given the local rows. It repeats until needs names no new ones.
func (e Ensure) Needs(c *gin.Context, table string, needs func(tx *store.Tx) ([]attr.Item, error)) error {
	if e == nil {
		return nil
	}
	for known := 0; ; {
		keys, err := Read(c, needs)
		if err != nil || len(keys) <= known {
			return err
		}
		known = len(keys)
		if err := e.Rows(c.Request.Context(), table, keys...); err != nil {
			return err
		}
	}
}

// Rows fetches rows, or whole partitions, before they are read; see ask.Ensure.
func (e Ensure) Rows(ctx context.Context, table string, keys ...attr.Item) error {
	if e == nil {
		return nil
	}
	return ask.Ensure(ctx, e, table, keys...)
}
