package sse

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// batch is how many journal records are read in one go.
const batch = 256

// Announced is a change with the application that it is of.
type Announced struct {
	App string
	Change
}

// Broadcaster reads the journal once for all streams and puts what it finds into their inboxes. It holds no transaction
// while it does, and no stream can hold it up.
type Broadcaster struct {
	store *store.Store
	clock clock.Clock
	log   *slog.Logger
	read  func(*store.Record) []Announced

	mu     sync.Mutex
	subs   map[Topic]map[*Subscriber]struct{}
	open   int    // how many they are
	cursor uint64 // of the last record handed out
}

// NewBroadcaster creates a broadcaster of a store's journal. read says what a record means to the applications.
func NewBroadcaster(s *store.Store, c clock.Clock, log *slog.Logger, read func(*store.Record) []Announced) *Broadcaster {
	return &Broadcaster{store: s, clock: c, log: log, read: read, subs: map[Topic]map[*Subscriber]struct{}{}}
}

// Run hands out what is new until ctx ends. Its goroutine has joined the clock.
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
			b.startOver() // trimmed before we came to it
			return
		}
		b.handOut(records)
	}
}

// position is where to read on. With nobody to read for it moves to the end: a stream that opens later begins with a
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

// startOver gives every stream a snapshot and goes on at the end of the journal.
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

// handOut puts what records mean into the inboxes: all of it before a stream is woken, so that one commit is one write.
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
	for i := range all { // readers of everything are woken by each change, with or without a frame for them
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

// Subscribe opens an inbox. What is committed after it returned will be in it; what was committed before is in the
// state that the caller reads next.
func (b *Broadcaster) Subscribe(topic Topic, wake bool) (sub *Subscriber, leave func()) {
	sub = NewSubscriber(wake)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == 0 {
		b.cursor = b.store.Seq() // whatever came while nobody listened
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

// Count is the number of open streams.
func (b *Broadcaster) Count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// Hurry bounds what is being written at shutdown: a reader that does not read now is not waited for.
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
