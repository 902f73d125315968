package connlimit

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// restWithin is how long the rest of a body may take once its request has been answered, and what is read of it a second after that. A
// client that sends everything first would lose the answer if the connection were closed before.
const (
	restWithin = 500 * time.Millisecond
	restRate   = 64 << 10
)

// request is a request in progress. It is the writer of the answer, and the body as the handler sees it, so that a request that waits for
// its client can be told from one that is being worked on.
type request struct {
	http.ResponseWriter
	conn *conn
	own  bool     // HTTP/1: the connection has no other
	addr *address // counted for it; nil: only the connection is

	length   int64 // of the body; negative: unknown
	begun    time.Duration
	got      atomic.Int64 // bytes of the body
	arrives  atomic.Bool  // it has not been read to its end
	reading  atomic.Bool  // the handler waits for it
	answered atomic.Int64 // when the answer began before the end of the body; 0: it did not
	rest     atomic.Int64 // bytes of the body since then
	sending  atomic.Int64 // since when a part of the answer is being sent; 0: none is
	before   atomic.Int64 // bytes sent over the connection before that part

	begins   bool // the answer has begun
	hijacked bool
}

// dueAt is conn.dueAt for one request.
func (r *request) dueAt() (at time.Duration, waits bool) {
	if sending := r.sending.Load(); sending != 0 {
		return time.Duration(sending) + patienceFor(r.conn.sent.Load()-r.before.Load()), true
	}
	if !r.reading.Load() {
		return 0, false
	}
	if answered := r.answered.Load(); answered != 0 {
		return time.Duration(answered), true
	}
	return r.begun + patienceFor(r.got.Load()), true
}

// answer follows the requests of connections.
func (l *Limiter) answer(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := r.Context().Value(connKey{}).(*conn)
		if c == nil {
			h.ServeHTTP(w, r)
			return
		}
		q := &request{ResponseWriter: w, conn: c, own: r.ProtoMajor == 1, length: r.ContentLength, begun: l.now()}
		if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
			with := *r
			with.Body = &body{q, r.Body}
			q.arrives.Store(true)
			l.arriving.Add(1)
			r = &with
		}
		defer l.end(q)
		alive, crowded, fits, victims := l.begin(q, r)
		for _, victim := range victims {
			_ = victim.Conn.Close()
		}
		if !alive {
			panic(http.ErrAbortHandler) // evicted a moment ago: nobody would see the answer
		}
		if crowded {
			w.Header().Set("Connection", "close")
		}
		if !fits {
			l.refuse.ServeHTTP(q, r)
			return
		}
		h.ServeHTTP(q, r)
	})
}

// refuse is the handler of a request that is one too many.
func refuse(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "You have too many requests in progress.", http.StatusServiceUnavailable)
}

// begin counts a request. A client that connects through a proxy, or has several requests on one HTTP/2 connection, has a share of requests
// as others have of connections; fits is false if it is used up. The caller closes the victims.
func (l *Limiter) begin(q *request, r *http.Request) (alive, crowded, fits bool, victims []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := q.conn
	if c.closed {
		return false, false, false, nil
	}
	c.idle, fits = false, true
	c.pending = append(c.pending, q)
	if c.proxied || !q.own {
		victims, fits = l.beginCount(q, l.clientOf(c, r))
	}
	if q.unread() && l.arriving.Load() > l.mostArriving() {
		if victim := l.evict(&l.bodies, (*conn).hasBody); victim != nil {
			victims = append(victims, victim)
		}
	}
	return !c.closed, len(l.conns)-l.taken > max(1, (l.most-l.taken)/2), fits, victims
}

// beginCount counts a request for the address of its client, and if that has its share already, replaces another of its connections.
func (l *Limiter) beginCount(q *request, client netip.Addr) (victims []*conn, fits bool) {
	c := q.conn
	fits = true
	if a := l.addresses[network(client)]; a != nil && a.open >= l.share() {
		victim := l.evict(&a.queue, func(other *conn) bool { return other.addr == a })
		if fits = victim != nil; fits {
			victims = append(victims, victim)
		}
	}
	q.addr = l.addressOf(client)
	q.addr.open++
	if c.proxied && q.own {
		c.addr = q.addr
	}
	return victims, fits
}

// end ends that. What has not arrived of the body must not hold the connection.
func (l *Limiter) end(q *request) {
	if q.own && !q.hijacked && q.unread() {
		q.limitRest()
	}
	q.endBody()
	l.mu.Lock()
	defer l.mu.Unlock()
	c := q.conn
	c.pending = slices.DeleteFunc(c.pending, func(other *request) bool { return other == q })
	c.since = l.now()
	if c.proxied {
		l.unmark(c)
		c.addr = nobody
	}
	l.endCount(q)
}

// endCount ends the count of a request for its address.
func (l *Limiter) endCount(q *request) {
	if q.addr != nil {
		l.countDown(q.addr)
		q.addr = nil
	}
}

// MarkUser marks the connection of a request as that of a signed-in user; empty: of an operator. It is then closed to make room only after
// those that nobody has marked. ctx is the request's. A user has so for 16 connections.
func MarkUser(ctx context.Context, user string) {
	c, _ := ctx.Value(connKey{}).(*conn)
	if c == nil {
		return
	}
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed || c.taken || c.marked || c.addr == nobody || user != "" && l.users[user] >= userConnections {
		return
	}
	c.marked, c.user = true, user
	c.addr.marked++
	l.users[user]++
}

// unmark ends that.
func (l *Limiter) unmark(c *conn) {
	if !c.marked {
		return
	}
	c.marked = false
	c.addr.marked--
	if l.users[c.user]--; l.users[c.user] == 0 {
		delete(l.users, c.user)
	}
}

// unread reports whether a part of the body has not been read.
func (r *request) unread() bool { return r.arrives.Load() }

// endBody ends the count of a body that is under way.
func (r *request) endBody() {
	if r.arrives.CompareAndSwap(true, false) {
		r.conn.l.arriving.Add(-1)
	}
}

// limitRest gives the rest of the body a deadline.
func (r *request) limitRest() {
	within := restWithin + time.Duration(r.rest.Load())*time.Second/restRate
	if answered := r.answered.Load(); answered != 0 {
		within -= r.conn.l.now() - time.Duration(answered)
	}
	at := r.conn.l.clock.Wall().Add(within)
	_ = http.NewResponseController(r.ResponseWriter).SetReadDeadline(at) // a writer without deadlines needs none
}

// body is a request's body.
type body struct {
	r    *request
	from io.Reader
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	r := b.r
	if r.own && r.answered.Load() != 0 {
		r.limitRest()
	}
	r.reading.Store(true)
	n, err := b.from.Read(p)
	r.reading.Store(false)
	if got := r.got.Add(int64(n)); err == io.EOF || r.length >= 0 && got >= r.length {
		r.endBody()
	}
	if r.answered.Load() != 0 {
		r.rest.Add(int64(n))
	}
	return n, err
}

// Close implements io.Closer. The server closes the body; closing it earlier would wait for the rest.
func (b *body) Close() error { return nil }

// WriteHeader implements http.ResponseWriter.
func (r *request) WriteHeader(status int) {
	r.beginAnswer(status)
	r.ResponseWriter.WriteHeader(status)
}

// beginAnswer sees to it that an answer does not wait for a body that nobody reads: net/http would read it before. A refusal closes the
// connection. Otherwise the body may arrive within a moment, so that the connection can be used again.
func (r *request) beginAnswer(status int) {
	if r.begins || status < http.StatusOK {
		return
	}
	r.begins = true
	if !r.unread() || !r.own {
		return
	}
	r.answered.Store(int64(max(1, r.conn.l.now())))
	if status >= http.StatusBadRequest {
		r.Header().Set("Connection", "close")
		return
	}
	r.limitRest()
}

// Write implements http.ResponseWriter.
func (r *request) Write(p []byte) (int, error) {
	r.beginAnswer(http.StatusOK)
	defer r.send()()
	return r.ResponseWriter.Write(p)
}

// send marks that a part of the answer is being sent, until the returned function is called.
func (r *request) send() (sent func()) {
	r.before.Store(r.conn.sent.Load())
	r.sending.Store(int64(max(1, r.conn.l.now())))
	return func() { r.sending.Store(0) }
}

// Flush implements http.Flusher.
func (r *request) Flush() { _ = r.FlushError() }

// FlushError is Flush for http.ResponseController.
func (r *request) FlushError() error {
	r.beginAnswer(http.StatusOK)
	defer r.send()()
	return http.NewResponseController(r.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (r *request) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(r.ResponseWriter).Hijack()
	r.hijacked = err == nil
	return conn, buffered, err
}

// Unwrap returns the writer below, for http.ResponseController.
func (r *request) Unwrap() http.ResponseWriter { return r.ResponseWriter }
