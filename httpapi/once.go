package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/idempotency"
)

const (
	headerKey      = "Idempotency-Key"
	headerOccurred = "Touchline-Occurred-Ago"
	headerSure     = "Touchline-Occurred-Confirmed"
	headerSent     = "Touchline-Sent"        // the latest time, by the node's clock, at which the request can have been sent; Unix ms
	headerNow      = "Touchline-Now"         // of /livez: the node's time, Unix ms, with which a page measures how far that clock is ahead of its device's
	headerFixed    = "Touchline-Occurred-At" // of an answer: the time of the write, as the node that took its key first fixed it

	fixedLayout = "2006-01-02T15:04:05.000Z"

	maxKey = 128 // characters

	// headerLife names the node and its incarnation, on the answers to entries whose keys it keeps, and on /livez. A page keeps such an entry
	// for a day, and sends it again, with its key, to a node of another life.
	headerLife = "Touchline-Life"

	occurredAtMost = 12 * time.Hour      // oldest event that a request may report
	occurredSure   = 30 * 24 * time.Hour // oldest that it may report if a person has confirmed it
	occurredEarly  = 2 * time.Minute     // tolerates a client's clock that was set back

	longestWay = 10 * time.Second // of a request that a page waits for
)

// IdempotencyKey returns the request's Idempotency-Key, with which it takes effect once; empty: there is none.
func IdempotencyKey(c *gin.Context) (string, error) {
	all := c.Request.Header.Values(headerKey)
	if len(all) == 0 {
		return "", nil
	}
	key := strings.TrimSpace(all[0])
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if len(all) > 1 || key == "" || len(key) > maxKey || strings.ContainsFunc(key, unprintable) {
		return "", bind.Invalid(headerKey, "must be one key of 1 to %d printable characters", maxKey)
	}
	return key, nil
}

// DeviceScope is the scope of the keys of a device, by its hash.
const DeviceScope = "device:"

// OnceScope returns the scope of a request's Idempotency-Key: that of the device that sends it, or whose entry is handed in, so that an entry counts
// once whoever brings it, or own if it comes from an API client without a device's cookie. former are the scopes in which the same request may have
// been recorded: that of a page of an earlier release, or of the device as the page knew it. These are only looked into: a hash that a
// request names is no id. But where entries are handed in, a key counts under the id with which its page made it, although the browser may have another
// by now: a file names that, and whoever has the file may use up its keys anyway.
func OnceScope(c *gin.Context, own string) (scope string, former []string) {
	if of, handed := Handed(c); handed {
		return DeviceScope + of.Device, []string{own}
	}
	device, named := serverOf(c).deviceOf(c), c.GetHeader(headerDevice)
	if named != device && handover.IsDeviceHash(named) {
		former = []string{DeviceScope + named}
	}
	switch {
	case device == "" || named == "none":
		return own, former
	case former != nil && c.GetBool(keyTakesFiles):
		return former[0], []string{DeviceScope + device, own}
	}
	return DeviceScope + device, append(former, own)
}

// CountsOnce tells a page that a request's entry takes effect once however often it is sent, so that the page keeps it as a second copy. Its route
// keeps the key.
func CountsOnce(c *gin.Context) {
	c.Set(keyKept, true)
	if c.GetHeader(headerKey) != "" {
		c.Header(headerLife, serverOf(c).life())
	}
}

const (
	keyKept  = "touchline.kept"  // the request's route keeps its key
	keyEntry = "touchline.entry" // the entry that the request is
)

// entry is an entry of a page whose route keeps no row of its key.
type entry struct {
	handover.Sent
	former []handover.Sent // as the device may have sent it before
	done   bool            // the work was done, and has to be noted
	before *uint64         // the number of the last record of the same entry, which was carried out before; nil: it was not
}

// entryOf returns the entry that a request is; nil: it is none, or its route keeps its key.
func entryOf(c *gin.Context) *entry {
	if c.GetBool(keyKept) {
		return nil
	}
	e, _ := c.Value(keyEntry).(*entry)
	return e
}

// newEntry returns the entry that a request of a page is; nil: it is another request.
func newEntry(c *gin.Context, body *bind.Body) (*entry, error) {
	s, m := serverOf(c), appOf(c)
	device, named := s.deviceOf(c), c.GetHeader(headerDevice)
	key, err := IdempotencyKey(c)
	if !s.cfg.Devices || m == nil || device == "" || named == "none" || key == "" || err != nil || c.GetBool(keyKept) {
		return nil, err
	}
	var members any
	if body != nil {
		if members, err = body.Members(); err != nil {
			return nil, err
		}
	}
	hash, err := idempotency.Hash(c.Request.Method+" "+c.Request.URL.Path, members)
	e := &entry{Sent: handover.Sent{Device: device, App: m.Name, Key: key, Hash: hash}}
	if named != device && handover.IsDeviceHash(named) {
		e.former = append(e.former, handover.Sent{Device: named, App: m.Name, Key: key, Hash: hash})
	}
	return e, err
}

// once returns work that is done once for each entry of a device, at this node: a page sends an entry again if its answer was lost, perhaps after
// somebody else has changed the same thing, which must not be undone. The work of a repetition is not done, and its result is empty. What is
// noted stays at this node, and costs nothing in the cloud. It is for changes that do no harm twice: what adds something keeps a row (UpdateOnce).
// body is the request's, if it was read; isRefused reports that the work has answered with a refusal.
func once[T any](c *gin.Context, body *bind.Body, isRefused func() bool, work func(tx *store.Tx) (T, error)) func(tx *store.Tx) (T, error) {
	e, wrong := newEntry(c, body)
	if e == nil && wrong == nil {
		return work
	}
	c.Set(keyEntry, e)
	return func(tx *store.Tx) (out T, err error) {
		if wrong != nil {
			return out, wrong
		}
		again, err := e.isRepeated(tx)
		if again || err != nil {
			return out, err
		}
		out, err = work(tx)
		e.done = err == nil && !isRefused()
		return out, err
	}
}

func (e *entry) isRepeated(tx *store.Tx) (bool, error) {
	e.before, e.done = nil, false
	for _, one := range append([]handover.Sent{e.Sent}, e.former...) {
		seq, ok, err := handover.Counted(tx, &one)
		if err != nil {
			return false, err
		}
		if ok {
			e.before = &seq
			return true, nil
		}
	}
	return false, nil
}

// noteEntry notes that a request's entry was carried out. It belongs to the transaction of its work.
func noteEntry(c *gin.Context, tx *store.Tx, seq uint64) error {
	if e := entryOf(c); e != nil && e.done {
		return handover.Count(tx, &e.Sent, seq)
	}
	return nil
}

// life identifies the node and its incarnation: it changes if the node is restored from a backup.
func (s *Server) life() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "life of a node\n%s %d", s.cfg.Store.Node(), s.cfg.Store.Incarnation()))
	return hex.EncodeToString(sum[:6])
}

// OccurredAt returns when the event that a request reports happened: the seconds in Touchline-Occurred-Ago before it was sent, at most 12 hours, or
// 30 days if a person was shown the time and has confirmed it. A request may have waited since then for the cloud, so that a later one overtook it.
// If its page does not know the node's time, Touchline-Sent, the seconds count from its arrival.
// Where time decides between people only the arrival counts, and this is not asked. The
// application must check that this time is plausible, but only after it knows that the request is not a repetition.
func OccurredAt(c *gin.Context, now time.Time) (time.Time, error) {
	text := c.GetHeader(headerOccurred)
	if text == "" {
		return now, nil
	}
	ago, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(ago) || math.IsInf(ago, 0) {
		return now, bind.Invalid(headerOccurred, "must be a number of seconds")
	}
	sure := c.GetHeader(headerSure)
	switch {
	case sure != "" && sure != "1":
		return now, bind.Invalid(headerSure, "must be 1")
	case sure == "" && (ago > occurredAtMost.Seconds() || ago < -occurredEarly.Seconds()):
		return now, fault.New(fault.Conflict, "occurred_at",
			"A write that happened more than 12 hours ago, or in the future, is accepted only if whoever made it confirms its time.")
	case ago > occurredSure.Seconds():
		return now, fault.New(fault.Conflict, "occurred_at", "A write that happened more than 30 days ago is not accepted.")
	}
	way, err := travelled(c)
	return now.Add(-sinceArrival(c) - way - time.Duration(max(0, ago)*float64(time.Second))), err
}

// travelled returns for how long a request was on its way at least, as far as its page knows. What is longer than a page waits, or below 0, is a clock
// that was set.
func travelled(c *gin.Context) (time.Duration, error) {
	text, arrived := c.GetHeader(headerSent), c.GetTime(keyArrived)
	if text == "" || arrived.IsZero() {
		return 0, nil
	}
	sent, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, bind.Invalid(headerSent, "must be a time in Unix milliseconds")
	}
	way := arrived.Sub(time.UnixMilli(sent))
	if way < 0 || way > longestWay {
		way = 0
	}
	return way, nil
}

// UpdateOnce is Update for a request that may be repeated. do writes what the request asks for, which may be nothing, and returns the
// answer. It is not called if a request with the row's key was answered before. A nil row means that the request has no key. A repeated
// request waits for the cloud like the first one. If the write is refused, also by a conflict, the key's row is read from the cloud:
// another node may have answered the request.
func UpdateOnce(c *gin.Context, row *idempotency.Row, do func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error)) (out idempotency.Outcome, err error) {
	s := serverOf(c)
	var asks []ask.Row
	if row != nil {
		CountsOnce(c)
		asks = append(asks, ask.Row{Table: row.Table, Key: row.Key})
		for _, former := range row.Former {
			asks = append(asks, ask.Row{Table: row.Table, Key: former.Key})
		}
	}
	seq, wrote, err := s.update(c, asks, func(tx *store.Tx) (err error) {
		out, err = runOnce(tx, row, do)
		return err
	})
	if err != nil {
		return out, err
	}
	if of := handingOf(c); of != nil {
		of.repeated = out.Repeated
	}
	if !out.At.IsZero() {
		c.Header(headerFixed, out.At.UTC().Format(fixedLayout))
	}
	if out.Repeated && out.Node == s.cfg.Store.Node() {
		return out, s.finishWrite(c, out.Seq, true)
	}
	if err := s.finishWrite(c, seq, wrote); err != nil {
		return out, err
	}
	if out.Repeated && s.cfg.Sync != nil { // another node wrote the row, so it came through the cloud
		c.Header(headerCloud, cloudConfirmed)
	}
	return out, nil
}

func runOnce(tx *store.Tx, row *idempotency.Row, do func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error)) (out idempotency.Outcome, err error) {
	if row != nil {
		out, found, err := row.Read(tx)
		if found || err != nil {
			return out, err
		}
	}
	out, writes, err := do(tx)
	switch {
	case err != nil, row == nil && len(writes) == 0: // nothing to write
		return out, err
	case row == nil:
		return out, tx.TransactWrite(store.TransactWrite{Items: writes})
	}
	return out, row.Write(tx, out, writes...)
}

// getWritten reports the progress of a write that this node accepted. It returns fault.NotFound for unknown writes, such as those
// accepted by another node: the client can send the write again with its key. Writes from before this incarnation are known while they
// wait: the node may only have crashed, and a client that sent such a write again would be told again to wait. One that no longer waits is
// unknown, because a restored backup may never have had it.
func (s *Server) getWritten(c *gin.Context) error {
	c.Header(headerNode, s.cfg.Store.Node())
	seq, err := strconv.ParseUint(c.Param("seq"), 10, 64)
	if err != nil || c.Param("node") != s.cfg.Store.Node() || seq == 0 || seq > s.cfg.Store.Seq() {
		return unknownWrite()
	}
	if _, ok := preferredWait(c.Request.Header.Values("Prefer")); !ok {
		c.Request.Header.Set("Prefer", "wait=0")
	}
	if err := s.finishWrite(c, seq, true); err != nil {
		return err
	}
	state := c.Writer.Header().Get(headerCloud)
	if life := s.cfg.Store.Incarnation() << 40; seq <= life && state != cloudWaiting {
		return unknownWrite()
	}
	return Answer(c, http.StatusOK, map[string]string{"cloud": state}, nil)
}

func unknownWrite() error {
	return fault.New(fault.NotFound, "unknown_write", "This node does not know that write: send it again, with its Idempotency-Key.")
}
