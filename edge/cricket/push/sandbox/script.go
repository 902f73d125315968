package sandbox

import (
	"context"
	"net/http"
	"time"
)

// Reply is a scripted answer.
type Reply struct {
	Status     int           `json:"status"`     // 0: validate and answer as usual after Delay
	Reason     string        `json:"reason"`     // for the JSON body
	Body       string        `json:"body"`       // instead, sent as it is: for answers that are not JSON
	RetryAfter string        `json:"retryAfter"` // header
	Delay      time.Duration `json:"-"`          // before anything else; real time
	Hang       bool          `json:"hang"`       // never answer
	Reset      bool          `json:"reset"`      // reset the stream without an answer
	Lost       bool          `json:"lost"`       // deliver as usual, then reset the stream: only the answer is lost
	GoAway     bool          `json:"goAway"`     // end the connection gracefully after the answer
	Streams    int           `json:"streams"`    // the new stream limit, sent with the answer
}

// ManageToken stands for requests about channels in a script.
const ManageToken = "manage"

// scripts are the replies by token or channel id and number of the push, from 1. The empty token stands for all pushes, counted together.
type scripts map[string]*tokenScript

type tokenScript struct {
	count   int
	replies map[int]Reply
	rest    *Reply // for every number without its own reply
}

// Script sets the answer to the nth push from now on (from 1) to a token. The empty token counts the pushes to
// all tokens. With n 0 it is for every push without its own answer.
func (s *Sandbox) Script(token string, n int, r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.script[token]
	if t == nil {
		t = &tokenScript{replies: map[int]Reply{}}
		s.script[token] = t
	}
	if n == 0 {
		t.rest = &r
		return
	}
	t.replies[t.count+n] = r
}

// Burst sets the answer to the next n pushes to any token: an outage of 5xx.
func (s *Sandbox) Burst(n int, r Reply) {
	for i := range n {
		s.Script("", i+1, r)
	}
}

// ClearScripts restores the usual answers.
func (s *Sandbox) ClearScripts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.script)
}

// scriptedReply counts a push and returns its scripted reply.
func (s *Sandbox) scriptedReply(token string) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, hit := s.script.next(token)
	if token == "" || token == ManageToken {
		return own, hit
	}
	all, hitAll := s.script.next("")
	if hit {
		return own, true
	}
	return all, hitAll
}

func (s scripts) next(token string) (Reply, bool) {
	t := s[token]
	if t == nil {
		return Reply{}, false
	}
	t.count++
	if r, ok := t.replies[t.count]; ok {
		return r, true
	}
	if t.rest != nil {
		return *t.rest, true
	}
	return Reply{}, false
}

// play does what precedes the answer; done reports that there is nothing more to answer.
func (r Reply) play(ctx context.Context, w http.ResponseWriter) (done bool) {
	if r.Delay > 0 {
		t := time.NewTimer(r.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return true
		}
	}
	if r.Hang {
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	}
	if r.Reset {
		panic(http.ErrAbortHandler)
	}
	if r.GoAway {
		w.Header().Set("Connection", "close") // net/http turns this into a GOAWAY
	}
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	return false
}
