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
	// maxWait is the longest time that a client can wait for the cloud.
	maxWait = 30 * time.Second
	// lookWithin limits the check whether the cloud has a write, for a client that does not want to wait.
	lookWithin = 100 * time.Millisecond
	// headerSeq is the sequence of a write's journal record, by which clients can ask about it.
	headerSeq = "Touchline-Seq"
	// headerNode is the id of the node that accepted or refused a write, or sent a page: a proxy does not know it.
	headerNode = "Touchline-Node"
	// headerCloud is the progress of a write: one of the states below.
	headerCloud = "Touchline-Cloud"

	keyAccepted = "touchline.accepted"
)

// States of a write.
const (
	cloudNone      = "none"      // the node has no cloud; its commit is final
	cloudWaiting   = "waiting"   // not sent yet
	cloudConfirmed = "confirmed" // the cloud has it
)

// finishWrite sets the headers of a committed write, and waits for the cloud if the client asks for that.
func (s *Server) finishWrite(c *gin.Context, seq uint64, wrote bool) error {
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

// awaitCloud waits as long as the client's Prefer header says. Without a cloud there is nothing to wait for.
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

// holdOpen extends the connection's deadlines: the request has been read, and its answer may take a while.
func (s *Server) holdOpen(c *gin.Context, within time.Duration) {
	ctl := http.NewResponseController(c.Writer)
	_ = ctl.SetReadDeadline(time.Time{}) // a writer without deadlines needs no extension
	_ = ctl.SetWriteDeadline(s.wall.Wall().Add(within + answerWithin))
}

// acceptedStatus returns the status of a success: 202 if the client waited for the cloud in vain.
func acceptedStatus(c *gin.Context, status int) int {
	if c.GetBool(keyAccepted) {
		return http.StatusAccepted
	}
	return status
}

// refusedError is a write that was committed here and then refused by the cloud.
type refusedError struct{ conflict uint64 }

// Error implements error.
func (e *refusedError) Error() string {
	return fmt.Sprintf("the cloud has refused the write: conflict %d", e.conflict)
}

// preferredWait returns the preference wait of RFC 7240, in seconds. As the RFC says, an invalid value is ignored and the first of
// several counts.
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

// splitUnquoted splits a header at separators outside of quoted strings.
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
