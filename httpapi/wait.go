package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// maxWait is the longest that a client can have its answer held back.
	maxWait = 30 * time.Second
	// lookWithin is how long it takes to look whether the cloud has a write, where the client does not want to wait.
	lookWithin = 100 * time.Millisecond
	// headerSeq names the journal record of a write, by which it can be asked for.
	headerSeq = "Touchline-Seq"
	// headerNode names the node that has taken a write, or refused one.
	headerNode = "Touchline-Node"
	// headerCloud says how far a write has come: see the states of written.
	headerCloud = "Touchline-Cloud"

	keyAccepted = "touchline.accepted"
)

// How far a write has come, in the header and for who asks later.
const (
	cloudNone      = "none"      // the node has no cloud: its own commit is the end
	cloudWaiting   = "waiting"   // it will be sent
	cloudConfirmed = "confirmed" // the cloud has it
)

// written says under which record a write was committed, and waits for the cloud as the request prefers.
func (s *Server) written(c *gin.Context, seq uint64, wrote bool) error {
	if wrote {
		c.Header(headerSeq, strconv.FormatUint(seq, 10))
		c.Header(headerCloud, cloudWaiting)
	}
	c.Header(headerNode, s.cfg.Store.Node())
	if s.cfg.Sync == nil {
		c.Header(headerCloud, cloudNone)
	}
	return s.awaitCloud(c, seq, wrote)
}

// awaitCloud does what the request prefers. Without a cloud the commit here is all there is to wait for.
func (s *Server) awaitCloud(c *gin.Context, seq uint64, wrote bool) error {
	seconds, ok := preferredWait(c.Request.Header.Values("Prefer"))
	if !ok {
		return nil
	}
	within := min(time.Duration(seconds)*time.Second, maxWait)
	applied := fmt.Sprintf("wait=%d", within/time.Second)
	if s.cfg.Sync == nil || !wrote {
		c.Header("Preference-Applied", applied)
		return nil
	}
	s.holdOpen(c, within)
	ctx, cancel := context.WithTimeout(c.Request.Context(), max(within, lookWithin))
	defer cancel()
	stop := context.AfterFunc(s.draining, cancel)
	defer stop()
	refused, err := s.cfg.Sync.Wait(ctx, seq)
	switch {
	case refused != 0:
		return &refusedError{refused}
	case err == nil:
		c.Header("Preference-Applied", applied)
		c.Header(headerCloud, cloudConfirmed)
		return nil
	case c.Request.Context().Err() == nil && (ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)):
		c.Header("Preference-Applied", applied)
		c.Set(keyAccepted, true)
		return nil
	default:
		return err
	}
}

// holdOpen moves the connection's time-outs: the write has been read, and its answer may take a while.
func (s *Server) holdOpen(c *gin.Context, within time.Duration) {
	ctl := http.NewResponseController(c.Writer)
	_ = ctl.SetReadDeadline(time.Time{}) // a writer without deadlines has none to end it
	_ = ctl.SetWriteDeadline(s.wall.Now().Add(within + answerWithin))
}

// accepted is the status of a good answer: 202 where the client waited for the cloud and it does not have the write
// yet.
func accepted(c *gin.Context, status int) int {
	if c.GetBool(keyAccepted) {
		return http.StatusAccepted
	}
	return status
}

// refusedError is a write that was committed here and that the cloud then did not take.
type refusedError struct{ conflict uint64 }

// Error implements error.
func (e *refusedError) Error() string {
	return fmt.Sprintf("the cloud has refused the write: conflict %d", e.conflict)
}

// preferredWait reads the preference wait of RFC 7240, in seconds. What cannot be read is passed over, as the RFC has
// it; of several the first counts.
func preferredWait(headers []string) (seconds int, ok bool) {
	for _, h := range headers {
		for part := range splitUnquoted(h, ',') {
			pref, _, _ := strings.Cut(part, ";")
			name, value, has := strings.Cut(pref, "=")
			if !has || !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			n, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err != nil {
				return 0, false
			}
			return int(n), true
		}
	}
	return 0, false
}

// splitUnquoted cuts a header at a separator that stands in no quoted string.
func splitUnquoted(text string, separator byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		quoted, start := false, 0
		for i := 0; i < len(text); i++ {
			switch {
			case quoted && text[i] == '\\':
				i++
			case text[i] == '"':
				quoted = !quoted
			case text[i] == separator && !quoted:
				if !yield(text[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(text[start:])
	}
}
