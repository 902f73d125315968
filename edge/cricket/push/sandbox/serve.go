package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
)

// serve answers one push.
func (s *Sandbox) serve(w http.ResponseWriter, req *http.Request) {
	s.busy.Add(1)
	defer s.busy.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil && len(body) < maxPayload {
		panic(http.ErrAbortHandler) // the client is gone
	}
	if s.cfg.Delay > 0 {
		Reply{Delay: s.cfg.Delay}.play(req.Context(), w)
	}
	r := &request{
		method: req.Method, path: req.URL.Path, header: req.Header, body: body, now: s.cfg.Clock.Now(),
		conn: connOf(req.Context()),
	}
	if strings.HasPrefix(r.path, "/1/apps/") {
		s.serveManagement(w, r)
		return
	}
	reply, hit := s.scriptedReply(r.addressee())
	if hit && reply.play(req.Context(), w) {
		return
	}
	refused, shown := s.answer(req.Context(), r, reply)
	if r.id == "" {
		r.id = uuid.NewString()
	}
	s.recordPush(r, refused, shown)
	if reply.Streams > 0 && r.conn != nil {
		r.conn.allow(uint32(reply.Streams))
	}
	if reply.Lost {
		panic(http.ErrAbortHandler)
	}
	s.write(w, r, refused, reply.Body)
}

// isBroadcast reports whether a push is for a channel rather than a device.
func (r *request) isBroadcast() bool { return strings.HasPrefix(r.path, "/4/broadcasts/") }

// addressee returns the key for scripts: the token or the channel id.
func (r *request) addressee() string {
	if r.isBroadcast() {
		return r.header.Get("apns-channel-id")
	}
	return strings.ToLower(path.Base(r.path))
}

// serveManagement answers requests about channels.
func (s *Sandbox) serveManagement(w http.ResponseWriter, r *request) {
	w.Header()["apns-request-id"] = []string{uuid.NewString()}
	if reply, hit := s.scriptedReply(ManageToken); hit && reply.Status != 0 {
		s.write(w, r, refuse(reply.Status, reply.Reason), reply.Body)
		return
	}
	refused := s.manage(w, r)
	if refused != nil {
		s.write(w, r, refused, "")
	}
}

// answer validates a push and delivers it to its phone, unless a script says otherwise.
func (s *Sandbox) answer(ctx context.Context, r *request, reply Reply) (refused *refusal, shown string) {
	if reply.Status != 0 && reply.Status != http.StatusOK {
		refused = refuse(reply.Status, reply.Reason)
		if reply.Status == http.StatusGone {
			refused.since = r.now
		}
		return refused, ""
	}
	if r.isBroadcast() {
		if refused = s.validate(r, checksOfBroadcast()); refused != nil {
			return refused, ""
		}
		return nil, s.broadcast(r)
	}
	if refused = s.validate(r, checks()); refused != nil {
		return refused, ""
	}
	return nil, s.deliver(ctx, r)
}

func (s *Sandbox) write(w http.ResponseWriter, r *request, refused *refusal, body string) {
	h := w.Header()
	if r.isBroadcast() {
		h["apns-request-id"] = []string{r.id}
	} else if r.id != "" {
		h["apns-id"] = []string{r.id}
	}
	h["apns-unique-id"] = []string{uuid.NewString()} // as Apple's sandbox does
	if refused == nil {
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, body)
		return
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(refused.status)
	if body != "" {
		_, _ = io.WriteString(w, body)
		return
	}
	answer := struct {
		Reason    string `json:"reason"`
		Timestamp int64  `json:"timestamp,omitempty"`
	}{Reason: refused.reason}
	if !refused.since.IsZero() {
		answer.Timestamp = refused.since.UnixMilli()
	}
	_ = json.NewEncoder(w).Encode(answer) // nothing can be done if the client is gone
}

// recordPush records a push.
func (s *Sandbox) recordPush(r *request, refused *refusal, shown string) {
	rec := Record{
		At: r.now, Token: redact(r.token), ID: r.id, Topic: r.header.Get("apns-topic"),
		Type: r.header.Get("apns-push-type"), Priority: r.priority, Expiration: r.expires,
		CollapseID: r.header.Get("apns-collapse-id"), Bytes: len(r.body), Status: http.StatusOK, Shown: shown,
	}
	if refused != nil {
		rec.Status, rec.Reason = refused.status, refused.reason
	}
	if r.target != nil {
		rec.Phone = r.target.phone.Name
	}
	if r.isBroadcast() {
		rec.Channel = r.header.Get("apns-channel-id")
	}
	if p, err := decodePayload(r.body); err == nil {
		rec.Payload = r.body
		rec.Event, rec.Alert = p.Event, p.Alert
		rec.Timestamp, _ = p.Timestamp.Int64()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.add(rec)
}

func redact(token string) string { return token[:min(6, len(token))] }

// unix converts epoch seconds.
func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
