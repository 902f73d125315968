package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/idempotency"
)

const (
	headerKey      = "Idempotency-Key"
	headerOccurred = "Touchline-Occurred-Ago"

	maxKey = 128 // characters

	occurredAtMost = 12 * time.Hour  // before a request: what is older is not taken as of then
	occurredEarly  = 2 * time.Minute // by which the client's clock may have been set back meanwhile
)

// IdempotencyKey reads the header by which a request takes effect once; empty: there is none.
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

// OccurredAt returns when the event that a request reports happened: now, less the seconds in Touchline-Occurred-Ago, at most
// 12 hours. The application checks that the time fits, after it has checked whether the request was answered before.
func OccurredAt(c *gin.Context, now time.Time) (time.Time, error) {
	text := c.GetHeader(headerOccurred)
	if text == "" {
		return now, nil
	}
	ago, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(ago) || math.IsInf(ago, 0) {
		return now, bind.Invalid(headerOccurred, "must be a number of seconds")
	}
	if ago > occurredAtMost.Seconds() || ago < -occurredEarly.Seconds() {
		return now, fault.New(fault.Conflict, "occurred_at", "A write that happened more than 12 hours ago, or in the future, is not accepted.")
	}
	return now.Add(-time.Duration(max(0, ago) * float64(time.Second))), nil
}

// UpdateOnce is Update for a request that may be repeated. do writes what the first request asks for, which may be nothing,
// and returns its answer; it is not called if a request with the row's key was answered before. Without a row every request
// counts as a first one. A repeated request waits for the cloud as the first one does.
func UpdateOnce(c *gin.Context, row *idempotency.Row, do func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error)) (out idempotency.Outcome, err error) {
	s := serverOf(c)
	seq, wrote, err := s.update(c, func(tx *store.Tx) (err error) {
		out, err = once(tx, row, do)
		return err
	})
	if err != nil {
		return out, err
	}
	if out.Repeated && out.Node == s.cfg.Store.Node() {
		return out, s.written(c, out.Seq, true)
	}
	if err := s.written(c, seq, wrote); err != nil {
		return out, err
	}
	if out.Repeated && s.cfg.Sync != nil { // another node has written the row: it came from the cloud
		c.Header(headerCloud, cloudConfirmed)
	}
	return out, nil
}

func once(tx *store.Tx, row *idempotency.Row, do func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error)) (out idempotency.Outcome, err error) {
	if row != nil {
		out, found, err := row.Read(tx)
		if found || err != nil {
			return out, err
		}
	}
	out, writes, err := do(tx)
	switch {
	case err != nil, row == nil && len(writes) == 0: // nothing has to change
		return out, err
	case row == nil:
		return out, tx.TransactWrite(store.TransactWrite{Items: writes})
	}
	return out, row.Write(tx, out, writes...)
}

// getWritten says how far a write has come that this node has taken. One that it does not know, because another node or an
// earlier life of this one has taken it, is fault.NotFound: who has sent it can send it again, with its key.
func (s *Server) getWritten(c *gin.Context) error {
	c.Header(headerNode, s.cfg.Store.Node())
	seq, err := strconv.ParseUint(c.Param("seq"), 10, 64)
	life := s.cfg.Store.Incarnation() << 40
	if err != nil || c.Param("node") != s.cfg.Store.Node() || seq <= life || seq > s.cfg.Store.Seq() {
		return fault.New(fault.NotFound, "unknown_write", "This node does not know that write: send it again, with its Idempotency-Key.")
	}
	if _, ok := preferredWait(c.Request.Header.Values("Prefer")); !ok {
		c.Request.Header.Set("Prefer", "wait=0")
	}
	if err := s.written(c, seq, true); err != nil {
		return err
	}
	return Answer(c, http.StatusOK, map[string]string{"cloud": c.Writer.Header().Get(headerCloud)}, nil)
}
