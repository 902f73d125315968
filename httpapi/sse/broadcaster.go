package sse

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// batch is how many journal records are read at once.
const batch = 256

// Announced is a change and its application.
type Announced struct {
	App string
	Change
}

// Broadcaster reads the journal once for all streams, and delivers changes to their inboxes. It holds no transaction while delivering,
// and a slow stream cannot block it.
type Broadcaster struct {
	store *store.Store
	clock clock.Clock
	log   *slog.Logger
	read  func(*store.Record) []Announced

	mu     sync.Mutex
	subs   map[Topic]map[*Subscriber]struct{}
	open   int    // number of subscribers
	cursor uint64 // sequence of the last delivered record
}

// NewBroadcaster returns a broadcaster of a store's journal. read returns the changes that a record means.
func NewBroadcaster(s *store.Store, c clock.Clock, log *slog.Logger, read func(*store.Record) []Announced) *Broadcaster {
	return &Broadcaster{store: s, clock: c, log: log, read: read, subs: map[Topic]map[*Subscriber]struct{}{}}
}

// Run delivers changes until ctx ends. The caller must have joined the clock for its goroutine.
func (b *Broadcaster) Run(ctx context.Context) {
	sig := clock.NewSignal()
	stop := b.store.Watch(sig)
	defer stop()
	for {
		b.pump(ctx)
		if b.clock.Wait(ctx, time.Time{}, sig) != nil {
			return
		}
	}
}

// pump reads to the end of the journal.
func (b *Broadcaster) pump(ctx context.Context) {
	for ctx.Err() == nil {
		after, idle := b.position()
		if idle {
			return
		}
		records, err := b.store.Journal(ctx, after, batch)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			b.log.Error("journal not readable", "err", err)
			b.startOver()
			return
		case len(records) == 0 && b.store.FirstSeq() <= after+1:
			return
		case len(records) == 0, records[0].Seq > after+1:
			b.startOver() // trimmed before we read it
			return
		}
		b.handOut(records)
	}
}

// position returns where to continue. Without subscribers it moves to the end of the journal: a stream that opens later begins with a
// snapshot that is at least as new.
func (b *Broadcaster) position() (after uint64, idle bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == 0 {
		b.cursor = b.store.Seq()
		return b.cursor, true
	}
	return b.cursor, false
}

// startOver makes every stream send a snapshot, and continues at the end of the journal.
func (b *Broadcaster) startOver() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cursor = b.store.Seq()
	for _, of := range b.subs {
		for s := range of {
			s.lose()
		}
	}
}

// handOut delivers changes to the inboxes. It collects all of them before it wakes a stream, so that one commit becomes one write to
// the client.
func (b *Broadcaster) handOut(records []store.Record) {
	var all []Announced
	of := map[Topic][]Frame{}
	for i := range records {
		all = append(all, b.read(&records[i])...)
	}
	for i := range all {
		topic := Topic{all[i].App, all[i].Topic}
		of[topic] = append(of[topic], all[i].Frame)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cursor = records[len(records)-1].Seq
	for i := range all { // readers of everything are woken by each change, even without a frame for them
		topic := Topic{App: all[i].App}
		if len(b.subs[topic]) == 0 || all[i].Topic == "" {
			continue
		}
		f, _ := all[i].all()
		of[topic] = append(of[topic], f)
	}
	for topic, frames := range of {
		for s := range b.subs[topic] {
			s.Offer(frames...)
		}
	}
}

// Subscribe opens an inbox. It receives everything committed after Subscribe returns; earlier commits are in the state that the caller
// reads next.
func (b *Broadcaster) Subscribe(topic Topic, wake bool) (sub *Subscriber, leave func()) {
	sub = NewSubscriber(wake)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == 0 {
		b.cursor = b.store.Seq() // skip what came without subscribers
	}
	if b.subs[topic] == nil {
		b.subs[topic] = map[*Subscriber]struct{}{}
	}
	b.subs[topic][sub] = struct{}{}
	b.open++
	return sub, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subs[topic], sub)
		if len(b.subs[topic]) == 0 {
			delete(b.subs, topic)
		}
		b.open--
	}
}

// Count returns the number of open streams.
func (b *Broadcaster) Count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// Hurry sets a deadline for writes in progress at shutdown, so that nobody waits for a client that does not read.
func (b *Broadcaster) Hurry(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, of := range b.subs {
		for s := range of {
			if out := s.out.Load(); out != nil {
				_ = out.conn.SetWriteDeadline(until)
			}
		}
	}
}
