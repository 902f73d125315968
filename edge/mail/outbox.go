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

// Table holds waiting messages, the recipients of sent ones for an hour, and messages that were given up for a day.
const Table = "touchline-mail"

const (
	window     = time.Hour       // over which messages are limited
	giveUp     = 24 * time.Hour  // an undelivered message is given up after this
	told       = 24 * time.Hour  // how long a given-up message is reported
	idleLook   = 5 * time.Minute // longest pause between two cleanups
	maxSubject = 200
	maxText    = 64 << 10
	maxAddress = 254
)

// retries returns the backoff between attempts.
func retries() backoff.Policy {
	return backoff.Policy{Base: time.Minute, Max: time.Hour, Floor: 10 * time.Second}
}

// Message is a plain text message.
type Message struct {
	To, Subject, Text string
	Until             time.Time // do not send later, such as when a link in it expires; zero: after a day

	Cause  Cause  // whose pot it comes from; empty: ByUser
	Client string // address of the client that causes it; empty: not limited by client
	Group  string // whom else its number is limited by, such as a league; empty: nobody
}

// row is a message as stored.
type row struct {
	ID       string    `dynamodbav:"id"` // sorts by time
	To       string    `dynamodbav:"to"`
	Subject  string    `dynamodbav:"subject"`
	Text     string    `dynamodbav:"text"`
	Queued   time.Time `dynamodbav:"queued"`
	Until    time.Time `dynamodbav:"until"`
	Next     time.Time `dynamodbav:"next"`
	Attempts int       `dynamodbav:"attempts"`
	Done     bool      `dynamodbav:"done"`             // sent or given up; kept for the limits
	Failed   string    `dynamodbav:"failed,omitempty"` // why it was given up, which was at Next
	Cause    Cause     `dynamodbav:"cause"`
	Client   string    `dynamodbav:"client,omitempty"` // hidden, as Group
	Group    string    `dynamodbav:"group,omitempty"`
}

// isOver reports whether a row is no longer needed.
func (r *row) isOver(now time.Time) bool {
	// A clock that was set back must not keep it.
	return r.Done && now.Sub(r.Queued).Abs() >= window && (r.Failed == "" || now.Sub(r.Next).Abs() >= told)
}

// Status is the state of the outbox.
type Status struct {
	Waiting int
	GivenUp int       // in the last 24 hours
	LastAt  time.Time // when the last one was given up; zero: never
	LastWhy string    // without addresses
	UsedUp  []Cause   // causes that have sent all messages of the hour
}

// Warning describes what needs attention; empty: nothing.
func (s *Status) Warning() string {
	var all []string
	for _, cause := range s.UsedUp {
		if cause == SignIn {
			all = append(all, "the hour's messages for sign-in are used up: nobody else is sent a link until the first of them are an hour old")
		} else {
			all = append(all, "the hour's messages for invitations are used up: no more are sent until the first of them are an hour old")
		}
	}
	if s.GivenUp > 0 {
		what := map[bool]string{true: "message", false: "messages"}[s.GivenUp == 1]
		all = append(all, fmt.Sprintf("%d %s could not be sent in the last 24 hours and will not be, the last at %s UTC (%s)",
			s.GivenUp, what, s.LastAt.UTC().Format("15:04:05"), s.LastWhy))
	}
	return strings.Join(all, "; ")
}

// Deps are the dependencies of an Outbox.
type Deps struct {
	Store *store.Store
	Clock clock.Clock
	Log   *slog.Logger
	Roots *x509.CertPool // for the server's certificate; nil: the system's

	Metrics prometheus.Registerer // may be nil
}

// Outbox queues and sends messages. It is safe for concurrent use.
type Outbox struct {
	Deps
	cfg     Config
	sender  sender
	random  func() float64
	fresh   atomic.Int64         // when a message was last queued, by the time of loops in Unix nanoseconds; a commit soon after may be its
	again   map[string]time.Time // when Run tries a message again, by the time of loops; known since it was first seen
	status  atomic.Pointer[Status]
	waiting prometheus.Gauge
	counts  *prometheus.CounterVec
}

// New creates an outbox. The configuration must be valid, and mail enabled. It does no I/O.
func New(c Config, d Deps) *Outbox {
	with := promauto.With(d.Metrics)
	o := &Outbox{
		Deps: d, cfg: c, sender: sender{Config: c, roots: d.Roots, within: stepWithin}, random: rand.Float64, again: map[string]time.Time{},
		waiting: with.NewGauge(prometheus.GaugeOpts{Name: "touchline_mail_waiting", Help: "Messages that wait to be sent."}),
		counts: with.NewCounterVec(prometheus.CounterOpts{
			Name: "touchline_mail_attempts_total", Help: "Attempts to send a message, by outcome: sent, retried or given_up.",
		}, []string{"outcome"}),
	}
	o.status.Store(&Status{})
	return o
}

// Status returns the state of the outbox after its latest pass.
func (o *Outbox) Status() Status { return *o.status.Load() }

// Queue stores a message in the caller's transaction, so both are committed or neither. It returns fault.Throttled if the recipient, the
// client, the group or the cause has reached its limit per hour, and fault.Invalid for an invalid address.
func (o *Outbox) Queue(tx *store.Tx, m Message) error {
	to, err := cleanAddress(m.To)
	if err != nil {
		return err
	}
	if len(m.Subject) > maxSubject || len(m.Text) > maxText || strings.ContainsFunc(m.Subject, unicode.IsControl) {
		return fault.New(fault.Invalid, "bad_message", "The message has a subject or a text that cannot be sent.")
	}
	now := o.Clock.Wall()
	r := row{
		ID: ulid.Make().String(), To: to, Subject: m.Subject, Text: m.Text, Queued: now, Until: now.Add(giveUp), Next: now,
		Cause: cmp.Or(m.Cause, ByUser), Client: hidden(m.Client), Group: hidden(m.Group),
	}
	if err := o.refuse(tx, &r); err != nil {
		return err
	}
	if !m.Until.IsZero() && m.Until.Before(r.Until) {
		r.Until = m.Until
	}
	o.fresh.Store(o.Clock.Now().UnixNano())
	return put(tx, &r)
}

// cleanAddress returns the bare address. No character in it can end a header or an SMTP command.
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

// rows yields all rows, in no particular order.
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

// Run sends queued messages, one at a time, until ctx ends.
func (o *Outbox) Run(ctx context.Context) error {
	committed := clock.NewSignal()
	defer o.Store.Watch(committed)()
	for {
		next, sent := o.sendDue(ctx)
		if sent && ctx.Err() == nil {
			continue // another may have been queued in the meantime
		}
		if err := o.rest(ctx, next, committed); err != nil {
			return err
		}
	}
}

// sendDue sends due messages. It returns when the next one is due, and whether any was attempted.
func (o *Outbox) sendDue(ctx context.Context) (next time.Time, attempted bool) {
	due, next, err := o.findDue(ctx)
	if err != nil && ctx.Err() == nil {
		o.Log.Warn("the outbox could not be read; retrying", "err", err)
	}
	for i := range due {
		if err := o.attempt(ctx, &due[i]); err != nil {
			if ctx.Err() == nil {
				o.Log.Error("the outbox cannot be written; sending is paused", "err", err)
			}
			return o.Clock.Now().Add(retries().Base), false
		}
	}
	return next, len(due) > 0
}

// rest waits until the next message is due, or one may have been queued.
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

// findDue returns the due messages and when the next one is due, updates the status, and deletes rows that are over.
func (o *Outbox) findDue(ctx context.Context) (due []row, next time.Time, err error) {
	now := o.Clock.Wall()
	next = o.Clock.Now().Add(idleLook)
	var over []string
	var waits []row
	st, recent := Status{}, map[Cause]int{}
	err = o.Store.View(ctx, func(tx *store.Tx) error {
		for r, err := range o.rows(tx) {
			if err != nil {
				return err
			}
			if isRecent(&r, now) {
				recent[r.Cause]++
			}
			switch {
			case r.isOver(now):
				over = append(over, r.ID)
			case r.Failed != "":
				st.GivenUp++
				if r.Next.After(st.LastAt) {
					st.LastAt, st.LastWhy = r.Next, r.Failed
				}
			case r.Done:
			default:
				waits = append(waits, r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, next, err
	}
	st.Waiting, st.UsedUp = len(waits), o.cfg.usedUp(recent)
	due, next = o.splitDue(waits, next)
	o.status.Store(&st)
	o.waiting.Set(float64(st.Waiting))
	return due, next, o.deleteRows(ctx, over)
}

// deleteRows deletes messages by their IDs.
func (o *Outbox) deleteRows(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return o.Store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			if _, err := tx.Delete(store.DeleteItem{Table: Table, Key: attr.Item{"id": attr.S(id)}, NoOld: true}); err != nil {
				return err
			}
		}
		return nil
	})
}

// splitDue returns those of the waiting messages that are due, and when the next of the others is; next if that is sooner.
func (o *Outbox) splitDue(waits []row, next time.Time) (due []row, _ time.Time) {
	now := o.Clock.Now()
	for i := range waits {
		if at := o.dueAt(&waits[i]); at.After(now) {
			next = earlier(next, at)
		} else {
			due = append(due, waits[i])
		}
	}
	return due, next
}

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// dueAt returns when a message is sent or tried again, by the time of loops. What an earlier process stored may have been written by
// another setting of the wall clock: no pause is longer than the longest one.
func (o *Outbox) dueAt(r *row) time.Time {
	at, known := o.again[r.ID]
	if !known {
		at = earlier(clock.NowAt(o.Clock, r.Next), o.Clock.Now().Add(retries().Max))
		o.again[r.ID] = at
	}
	return at
}

// attempt sends a message. It records the attempt first: if the store cannot be written nothing is sent repeatedly, and a message that
// crashes the process is not retried immediately at each start.
func (o *Outbox) attempt(ctx context.Context, r *row) error {
	r.Attempts++
	pause := retries().Delay(r.Attempts-1, o.random())
	r.Next = o.Clock.Wall().Add(pause)
	o.again[r.ID] = o.Clock.Now().Add(pause)
	if err := o.storeRow(ctx, r); err != nil {
		return err
	}
	err := error(&failure{what: "it has expired", final: true})
	if o.Clock.Wall().Before(r.Until) {
		o.Clock.Suspend(func() { err = o.sender.send(ctx, r) })
	}
	f, _ := errors.AsType[*failure](err)
	outcome := "retried"
	switch {
	case err == nil:
		outcome = "sent"
	case f != nil && f.final:
		outcome = "given_up"
		r.Failed, r.Next = f.what, o.Clock.Wall()
	}
	o.counts.WithLabelValues(outcome).Inc()
	if err != nil {
		o.Log.Warn("a message was not sent", "outcome", outcome, "id", r.ID, "attempts", r.Attempts, "server", cmp.Or(o.cfg.Host, o.cfg.Dir), "err", err)
	}
	if outcome == "retried" {
		return nil
	}
	delete(o.again, r.ID)
	r.Done, r.Subject, r.Text = true, "", "" // the recipient is kept for the limits
	return o.storeRow(context.WithoutCancel(ctx), r)
}

func (o *Outbox) storeRow(ctx context.Context, r *row) error {
	return o.Store.Update(ctx, func(tx *store.Tx) error { return put(tx, r) })
}
