package mail

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/mail"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Table holds messages that wait, for an hour whom others were sent to, and for a day which were given up.
const Table = "touchline-mail"

const (
	window     = time.Hour       // of the limits
	giveUp     = 24 * time.Hour  // a message that nobody took for so long is given up
	told       = 24 * time.Hour  // that it was
	idleLook   = 5 * time.Minute // at rows whose hour is over
	maxSubject = 200
	maxText    = 64 << 10
	maxAddress = 254
)

// retries says how long a message waits after an attempt.
func retries() backoff.Policy {
	return backoff.Policy{Base: time.Minute, Max: time.Hour, Floor: 10 * time.Second}
}

// Message is a message in plain text.
type Message struct {
	To, Subject, Text string
	Until             time.Time // not sent afterwards, as a link that has expired; zero: a day
}

// row is a message in the table.
type row struct {
	ID       string    `dynamodbav:"id"` // sorts by time
	To       string    `dynamodbav:"to"`
	Subject  string    `dynamodbav:"subject"`
	Text     string    `dynamodbav:"text"`
	Queued   time.Time `dynamodbav:"queued"`
	Until    time.Time `dynamodbav:"until"`
	Next     time.Time `dynamodbav:"next"`
	Attempts int       `dynamodbav:"attempts"`
	Done     bool      `dynamodbav:"done"`             // sent or given up: it counts for the limits alone
	Failed   string    `dynamodbav:"failed,omitempty"` // why it was given up, at Next
}

// over reports whether nobody asks for a row any more.
func (r *row) over(now time.Time) bool {
	return r.Done && now.Sub(r.Queued) >= window && (r.Failed == "" || now.Sub(r.Next) >= told)
}

// Status is how the outbox stands.
type Status struct {
	Waiting int       `json:"waiting"`
	GivenUp int       `json:"givenUp"`                  // messages, in the last 24 hours
	LastAt  time.Time `json:"lastGivenUpAt,omitzero"`   // of the last one that was given up; zero: none was
	LastWhy string    `json:"lastGivenUpWhy,omitempty"` // without the address
}

// Warning is what a person should look at; empty: nothing.
func (s *Status) Warning() string {
	what := "messages"
	switch s.GivenUp {
	case 0:
		return ""
	case 1:
		what = "message"
	}
	return fmt.Sprintf("%d %s could not be sent in the last 24 hours and will not be, the last at %s UTC (%s)",
		s.GivenUp, what, s.LastAt.UTC().Format("15:04:05"), s.LastWhy)
}

// Deps are what an Outbox works with.
type Deps struct {
	Store *store.Store
	Clock clock.Clock
	Log   *slog.Logger
	Roots *x509.CertPool // that the server's certificate is verified against; nil: the system's

	Metrics prometheus.Registerer // nil: nobody collects them
}

// Outbox keeps messages and sends them. Its methods may be called from any goroutine.
type Outbox struct {
	Deps
	cfg     Config
	sender  sender
	random  func() float64
	fresh   atomic.Int64 // when a message was queued last, in Unix nanoseconds: a commit after it is worth a look
	status  atomic.Pointer[Status]
	waiting prometheus.Gauge
	counts  *prometheus.CounterVec
}

// New makes the outbox of a configuration that is on and has no problems. It does no I/O.
func New(c Config, d Deps) *Outbox {
	with := promauto.With(d.Metrics)
	o := &Outbox{
		Deps: d, cfg: c, sender: sender{Config: c, roots: d.Roots, within: stepWithin}, random: rand.Float64,
		waiting: with.NewGauge(prometheus.GaugeOpts{Name: "touchline_mail_waiting", Help: "Messages that wait to be sent."}),
		counts: with.NewCounterVec(prometheus.CounterOpts{
			Name: "touchline_mail_attempts_total", Help: "Attempts to send a message, by outcome: sent, retried or given_up.",
		}, []string{"outcome"}),
	}
	o.status.Store(&Status{})
	return o
}

// Status is how the outbox stood when it was last looked at, which Run does after each attempt.
func (o *Outbox) Status() Status { return *o.status.Load() }

// Queue keeps a message in the transaction of what it stands for: both are committed, or neither. An address or a node that has
// had its messages of this hour is fault.Throttled, an address that is none fault.Invalid.
func (o *Outbox) Queue(tx *store.Tx, m Message) error {
	to, err := cleanAddress(m.To)
	if err != nil {
		return err
	}
	if len(m.Subject) > maxSubject || len(m.Text) > maxText || strings.ContainsFunc(m.Subject, unicode.IsControl) {
		return fault.New(fault.Invalid, "bad_message", "The message has a subject or a text that cannot be sent.")
	}
	now := o.Clock.Now()
	var same, all int
	for r, err := range o.rows(tx) {
		if err != nil {
			return err
		}
		if now.Sub(r.Queued) >= window {
			continue
		}
		all++
		if strings.EqualFold(r.To, to) {
			same++
		}
	}
	if same >= o.cfg.PerAddress || all >= o.cfg.PerHour {
		return fault.New(fault.Throttled, "mail_limit", "Too many messages were sent: try again in an hour.")
	}
	r := row{ID: ulid.Make().String(), To: to, Subject: m.Subject, Text: m.Text, Queued: now, Until: now.Add(giveUp), Next: now}
	if !m.Until.IsZero() && m.Until.Before(r.Until) {
		r.Until = m.Until
	}
	o.fresh.Store(now.UnixNano())
	return put(tx, &r)
}

// cleanAddress is a bare address; nothing in it can end a header or a command.
func cleanAddress(text string) (string, error) {
	a, err := mail.ParseAddress(strings.TrimSpace(text))
	if err != nil || a.Name != "" || len(a.Address) > maxAddress || strings.ContainsFunc(a.Address, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>\,;`, r) }) {
		return "", fault.New(fault.Invalid, "invalid_email", "This is not an e-mail address.")
	}
	return a.Address, nil
}

func put(tx *store.Tx, r *row) error {
	item, err := attr.Marshal(r)
	if err == nil {
		_, err = tx.Put(store.PutItem{Table: Table, Item: item, NoOld: true})
	}
	return err
}

// rows are all, in no order.
func (o *Outbox) rows(tx *store.Tx) func(yield func(row, error) bool) {
	return func(yield func(row, error) bool) {
		for item, err := range tx.ScanAll(store.Scan{Table: Table}) {
			var r row
			if err == nil {
				err = attr.Unmarshal(item, &r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Run sends what waits, one message at a time, until ctx ends.
func (o *Outbox) Run(ctx context.Context) error {
	committed := clock.NewSignal()
	defer o.Store.Watch(committed)()
	for {
		next, sent := o.pass(ctx)
		if sent && ctx.Err() == nil {
			continue // another may have been queued meanwhile
		}
		if err := o.rest(ctx, next, committed); err != nil {
			return err
		}
	}
}

// pass attempts what is due, and reports whether there was anything, and when the next message is.
func (o *Outbox) pass(ctx context.Context) (next time.Time, attempted bool) {
	due, next, err := o.look(ctx)
	if err != nil && ctx.Err() == nil {
		o.Log.Warn("the outbox could not be read and will be looked at again", "err", err)
	}
	for i := range due {
		if err := o.attempt(ctx, &due[i]); err != nil {
			if ctx.Err() == nil {
				o.Log.Error("the outbox cannot be written: nothing is sent meanwhile", "err", err)
			}
			return o.Clock.Now().Add(retries().Base), false
		}
	}
	return next, len(due) > 0
}

// rest waits until the next message is due, or until one may have been committed.
func (o *Outbox) rest(ctx context.Context, next time.Time, committed *clock.Signal) error {
	for {
		if err := o.Clock.Wait(ctx, next, committed); err != nil {
			return err
		}
		now := o.Clock.Now()
		if fresh := time.Unix(0, o.fresh.Load()); !now.Before(next) || now.Sub(fresh) < time.Minute {
			return nil
		}
	}
}

// look finds the messages that are due and when the next one is, and forgets those whose hour is over.
func (o *Outbox) look(ctx context.Context) (due []row, next time.Time, err error) {
	now := o.Clock.Now()
	next = now.Add(idleLook)
	var over []string
	st := Status{}
	err = o.Store.View(ctx, func(tx *store.Tx) error {
		for r, err := range o.rows(tx) {
			switch {
			case err != nil:
				return err
			case r.over(now):
				over = append(over, r.ID)
			case r.Failed != "":
				st.GivenUp++
				if r.Next.After(st.LastAt) {
					st.LastAt, st.LastWhy = r.Next, r.Failed
				}
			case r.Done:
			case r.Next.After(now):
				st.Waiting++
				if r.Next.Before(next) {
					next = r.Next
				}
			default:
				st.Waiting++
				due = append(due, r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, next, err
	}
	o.status.Store(&st)
	o.waiting.Set(float64(st.Waiting))
	if len(over) == 0 {
		return due, next, nil
	}
	return due, next, o.Store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range over {
			if _, err := tx.Delete(store.DeleteItem{Table: Table, Key: attr.Item{"id": attr.S(id)}, NoOld: true}); err != nil {
				return err
			}
		}
		return nil
	})
}

// attempt sends a message. That it is attempted is kept first: a store that cannot be written sends nothing again and again, and
// a message that ends the process is not the first one after each start.
func (o *Outbox) attempt(ctx context.Context, r *row) error {
	r.Attempts++
	r.Next = o.Clock.Now().Add(retries().Delay(r.Attempts-1, o.random()))
	if err := o.keep(ctx, r); err != nil {
		return err
	}
	err := error(&failure{what: "its time is over", final: true})
	if o.Clock.Now().Before(r.Until) {
		o.Clock.Suspend(func() { err = o.sender.send(ctx, r) })
	}
	f, _ := errors.AsType[*failure](err)
	outcome := "retried"
	switch {
	case err == nil:
		outcome = "sent"
	case f != nil && f.final:
		outcome = "given_up"
		r.Failed, r.Next = f.what, o.Clock.Now()
	}
	o.counts.WithLabelValues(outcome).Inc()
	if err != nil {
		o.Log.Warn("a message was not sent", "outcome", outcome, "id", r.ID, "attempts", r.Attempts, "server", cmp.Or(o.cfg.Host, o.cfg.Dir), "err", err)
	}
	if outcome == "retried" {
		return nil
	}
	r.Done, r.Subject, r.Text = true, "", "" // whom it was for counts for the limits
	return o.keep(context.WithoutCancel(ctx), r)
}

func (o *Outbox) keep(ctx context.Context, r *row) error {
	return o.Store.Update(ctx, func(tx *store.Tx) error { return put(tx, r) })
}
