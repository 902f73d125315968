package sandbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxChannels is how many channels an app may have.
const maxChannels = 10_000

// channel is a broadcast channel of the app. Its listeners are in the activities.
type channel struct {
	id      string
	created time.Time
	stored  bool      // keeps the newest message for phones that are offline
	last    time.Time // latest accepted push
	pushes  int
}

// ChannelView is a broadcast channel for pages and tests.
type ChannelView struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	Listeners int       `json:"listeners"` // running activities
	Pushes    int       `json:"pushes"`
}

// Channels returns the broadcast channels by id.
func (s *Sandbox) Channels() []ChannelView {
	s.mu.Lock()
	defer s.mu.Unlock()
	views := make([]ChannelView, 0, len(s.channels))
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		ch := s.channels[id]
		views = append(views, ChannelView{
			ID: id, CreatedAt: ch.created, Listeners: len(s.listeners(id, s.cfg.Clock.Now())), Pushes: ch.pushes,
		})
	}
	return views
}

// listeners returns the running activities of a channel. Called with the lock held.
func (s *Sandbox) listeners(id string, now time.Time) (all []*listener) {
	for _, ph := range s.phones {
		for _, a := range ph.activities {
			if a.channel == id && !a.isOver(now) {
				all = append(all, &listener{ph, a})
			}
		}
	}
	return all
}

type listener struct {
	phone    *phone
	activity *activity
}

// checksOfBroadcast returns the rules for a push to a channel, in the order of those for a device.
func checksOfBroadcast() []check {
	return []check{
		(*Sandbox).checkRequestID,
		(*Sandbox).checkMethod,
		(*Sandbox).checkRepeated,
		(*Sandbox).checkApp,
		(*Sandbox).checkPriority,
		(*Sandbox).checkExpiration,
		(*Sandbox).checkBroadcastType,
		(*Sandbox).checkChannel,
		(*Sandbox).checkProvider,
		(*Sandbox).checkSize,
		(*Sandbox).checkChannelRate,
	}
}

func (s *Sandbox) checkRequestID(r *request) *refusal {
	return checkUUID(r, "apns-request-id")
}

// checkApp requires the path to name the only app.
func (s *Sandbox) checkApp(r *request) *refusal {
	if _, app, ok := strings.Cut(r.path, "/apps/"); !ok || strings.Split(app, "/")[0] != s.cfg.BundleID {
		return refuse(http.StatusBadRequest, "TopicDisallowed")
	}
	return nil
}

func (s *Sandbox) checkBroadcastType(r *request) *refusal {
	switch r.header.Get("apns-push-type") {
	case "liveactivity":
		return nil
	case "":
		return refuse(http.StatusBadRequest, "MissingPushType")
	default:
		return refuse(http.StatusBadRequest, "InvalidPushType")
	}
}

func (s *Sandbox) checkChannel(r *request) *refusal {
	id := r.header.Get("apns-channel-id")
	if id == "" {
		return refuse(http.StatusBadRequest, "MissingChannelId")
	}
	if _, err := base64.StdEncoding.DecodeString(id); err != nil {
		return refuse(http.StatusBadRequest, "BadChannelId")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.channel = s.channels[id]; r.channel == nil {
		return refuse(http.StatusBadRequest, "ChannelNotRegistered")
	}
	return nil
}

// checkChannelRate allows one push per second to a channel.
func (s *Sandbox) checkChannelRate(r *request) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := r.channel.last; !last.IsZero() && r.now.Sub(last) < tokenInterval {
		return refuse(http.StatusTooManyRequests, "TooManyRequests")
	}
	r.channel.last = r.now
	r.channel.pushes++
	return nil
}

// broadcast delivers an accepted push to all listeners and returns the outcome.
func (s *Sandbox) broadcast(r *request) string {
	p, err := decodePayload(r.body)
	if err != nil {
		return "ignored: " + err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.listeners(r.channel.id, r.now)
	shown := 0
	for _, l := range all {
		l.phone.received++
		if err := s.showTo(l, r, p); err != nil {
			l.phone.ignored++
			l.phone.why = err.Error()
			continue
		}
		shown++
	}
	return fmt.Sprintf("shown on %d of %d", shown, len(all))
}

// showTo applies a channel's push to one phone. Called with the lock held.
func (s *Sandbox) showTo(l *listener, r *request, p aps) error {
	if err := l.phone.spend(r.priority, r.now); err != nil {
		return err
	}
	if err := l.activity.apply(p, r.now, s.cfg.Lenient); err != nil {
		return err
	}
	l.phone.light(p, r.now)
	return nil
}

// manage answers requests that create, read, list and delete channels.
func (s *Sandbox) manage(w http.ResponseWriter, r *request) *refusal {
	rules := []check{(*Sandbox).checkRequestID, (*Sandbox).checkRepeated, (*Sandbox).checkApp, (*Sandbox).checkProvider}
	if refused := s.validate(r, rules); refused != nil {
		return refused
	}
	what := r.path[strings.LastIndexByte(r.path, '/')+1:]
	switch r.method + " " + what {
	case "POST channels":
		return s.createChannel(w, r)
	case "GET channels", "DELETE channels":
		return s.oneChannel(w, r)
	case "GET all-channels":
		return s.allChannels(w)
	}
	if what == "channels" || what == "all-channels" {
		return refuse(http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
	return refuse(http.StatusNotFound, "BadPath")
}

func (s *Sandbox) createChannel(w http.ResponseWriter, r *request) *refusal {
	var body struct {
		Type    string `json:"push-type"`
		Storage *int   `json:"message-storage-policy"`
	}
	switch err := json.Unmarshal(r.body, &body); {
	case len(r.body) == 0:
		return refuse(http.StatusBadRequest, "PayloadEmpty")
	case err != nil || body.Storage == nil || *body.Storage != 0 && *body.Storage != 1:
		return refuse(http.StatusBadRequest, "BadRequest")
	case body.Type == "":
		return refuse(http.StatusBadRequest, "MissingPushType")
	case body.Type != "LiveActivity":
		return refuse(http.StatusBadRequest, "InvalidPushType")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.channels) >= maxChannels {
		return refuse(http.StatusBadRequest, "CannotCreateChannelConfig")
	}
	s.made++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|channel|%d", s.cfg.Seed, s.made))
	id := base64.StdEncoding.EncodeToString(sum[:16])
	s.channels[id] = &channel{id: id, created: r.now, stored: *body.Storage == 1}
	w.Header().Set("apns-channel-id", id)
	w.WriteHeader(http.StatusCreated)
	return nil
}

func (s *Sandbox) oneChannel(w http.ResponseWriter, r *request) *refusal {
	if refused := s.checkChannel(r); refused != nil {
		return refused
	}
	if r.method == http.MethodDelete {
		s.mu.Lock()
		delete(s.channels, r.channel.id)
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	policy := 0
	if r.channel.stored {
		policy = 1
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"push-type": "LiveActivity", "message-storage-policy": policy})
	return nil
}

func (s *Sandbox) allChannels(w http.ResponseWriter) *refusal {
	s.mu.Lock()
	ids := slices.Sorted(maps.Keys(s.channels))
	s.mu.Unlock()
	if ids == nil {
		ids = []string{}
	}
	_ = json.NewEncoder(w).Encode(map[string][]string{"channels": ids})
	return nil
}
