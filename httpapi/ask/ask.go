// Package ask asks the cloud before a request is told that something does not exist: another node may have made it a moment ago. If the
// rows that were looked for come, the request is tried again. If the cloud cannot be asked, the answer is that it cannot be known now,
// which is a 503, never a 404. Questions have a budget per client and in total.
package ask

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

const (
	// Within is how long a request waits for the cloud in total. After that it uses what is here.
	Within = 2 * time.Second
	// most is how many rows a request asks the cloud for, atOnce how many of them at once.
	most   = 512
	atOnce = 16
	// rounds is how often a request is tried again with what the cloud had: a row may lead to others.
	rounds = 8
)

// Config is what New needs.
type Config struct {
	Store *store.Store
	Clock clock.Clock // real time
	// Read reads a row, or a whole partition if the key is only the partition key, from the cloud into the store. It fails if the cloud
	// does not answer.
	Read func(ctx context.Context, table string, key attr.Item) error
	// Asked counts a question, with its error; nil: nobody counts.
	Asked func(err error)
}

// Desk is where requests ask the cloud.
type Desk struct {
	Config
	budget *budget
}

// New returns a desk.
func New(c Config) (*Desk, error) {
	if c.Asked == nil {
		c.Asked = func(error) {}
	}
	b, err := newBudget()
	return &Desk{Config: c, budget: b}, err
}

// request is what one request has asked.
type request struct {
	*Desk
	client string

	mu    sync.Mutex
	until time.Time        // end of the time for the cloud; zero: nothing was asked yet
	asked map[string]error // by row: nil if it was read; else why not
}

type requestKey struct{}

// Begin returns a context in which a request of a client can ask the cloud. A nil desk asks nothing, and neither does a request that
// can ask already begin anew.
func (d *Desk) Begin(ctx context.Context, client string) context.Context {
	if d == nil || requestIn(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, requestKey{}, &request{Desk: d, client: client})
}

// CountFor has the questions of a request count for a client from now on: for a user, once it is known that one is signed in, not for all who
// share the user's address.
func CountFor(ctx context.Context, client string) {
	if r := requestIn(ctx); r != nil {
		r.client = client
	}
}

// WithoutCloud returns a context in which the cloud is not asked, for what outlives its request.
func WithoutCloud(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, (*request)(nil))
}

// requestIn returns the request that a context belongs to; nil: the cloud is not asked.
func requestIn(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// Row names an item, or a partition if the key is only the partition key.
type Row struct {
	Table string
	Key   attr.Item
}

func (r Row) id() string { return r.Table + " " + string(attr.AppendJSON(nil, r.Key)) }

// Look is told of a row that may be missing, or of the partition of several.
type Look = func(table string, key attr.Item)

// Consult runs do, which tells look which rows it looks for. If do returns that something is missing (fault.LacksSomething), those rows
// are read from the cloud, and do runs again if that may help. If they cannot be read, the error is an *UnknownError. Outside of a
// request, and on a node without a cloud, do just runs.
func Consult(ctx context.Context, do func(look Look) error) error { return ConsultOnce(ctx, nil, do) }

// ConsultOnce is Consult for a request with an Idempotency-Key. The key's rows are asked for too, also after a conflict, because another
// node may have answered the request. But nothing is unknown because such a row is: the request then counts as new.
func ConsultOnce(ctx context.Context, once []Row, do func(look Look) error) error {
	r := requestIn(ctx)
	if r == nil {
		return do(func(string, attr.Item) {})
	}
	for range rounds {
		var missing []Row
		err := do(func(table string, key attr.Item) { missing = append(missing, Row{table, key}) })
		switch {
		case fault.LacksSomething(err):
		case len(once) > 0 && fault.Is(err, fault.Conflict):
			missing = once
		default:
			return err
		}
		if !r.read(ctx, missing) {
			return r.lackOrUnknown(ctx, err, once, missing)
		}
	}
	return &UnknownError{Absent: fault.New(fault.NotFound, "not_found", "there is no end of rows to ask for"), Retry: retry}
}

// View is Consult for a read transaction, which view begins.
func View(ctx context.Context, view func(context.Context, func(tx *store.Tx) error) error, do func(tx *store.Tx) error) error {
	return Consult(ctx, func(look Look) error {
		return view(ctx, func(tx *store.Tx) error {
			tx.OnAbsent(look)
			return do(tx)
		})
	})
}

// lackOrUnknown returns err, or that it cannot be known now if one of the missing rows could not be read.
func (r *request) lackOrUnknown(ctx context.Context, err error, once, missing []Row) error {
	if !fault.LacksSomething(err) {
		return err
	}
	for _, row := range missing {
		r.mu.Lock()
		why := r.asked[row.id()]
		r.mu.Unlock()
		if why == nil || slices.ContainsFunc(once, func(o Row) bool { return o.id() == row.id() }) {
			continue
		}
		// A partition with rows is known as it was read last. Which of its rows is missing, do has said by looking for that row.
		here, _, splitErr := r.split(ctx, row.Table, []attr.Item{row.Key})
		if splitErr != nil {
			return errors.Join(err, splitErr)
		}
		if len(here) == 0 {
			return unknown(err, why)
		}
	}
	return err
}

// read reads the rows from the cloud that the request has not asked for yet. It reports whether any was read.
func (r *request) read(ctx context.Context, rows []Row) (some bool) {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	var questions sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, row := range r.fresh(rows) {
		slots <- struct{}{}
		questions.Go(func() {
			defer func() { <-slots }()
			err := r.askFor(ctx, row)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.asked[row.id()] = err
			some = some || err == nil
		})
	}
	questions.Wait()
	return some
}

// askFor reads a row from the cloud, within the budget.
func (r *request) askFor(ctx context.Context, row Row) error {
	err := r.budget.spendQuestion(r.client, r.Clock.Now())
	if err == nil {
		err = r.Read(ctx, row.Table, row.Key)
	}
	r.Asked(err)
	return err
}

// withTimeout returns a context for questions to the cloud.
func (r *request) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until.IsZero() {
		r.until = r.Clock.Now().Add(Within)
	}
	return context.WithTimeout(ctx, r.until.Sub(r.Clock.Now()))
}

var errTooManyRows = errors.New("the request asks for too many rows")

// fresh returns the rows that have not been asked for, and notes that they are now.
func (r *request) fresh(rows []Row) (out []Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[string]error{}
	}
	for _, row := range rows {
		id := row.id()
		if _, known := r.asked[id]; known {
			continue
		}
		r.asked[id] = errTooManyRows
		if len(r.asked) <= most {
			out = append(out, row)
		}
	}
	return out
}
