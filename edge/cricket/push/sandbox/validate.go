package sandbox

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Limits of a push.
const (
	maxPayload     = 4096
	maxCollapseID  = 64
	maxBody        = 64 << 10 // limit of what is read
	minTokenDigits = 64
	maxTokenDigits = 200
	tokenInterval  = time.Second // minimum time between two pushes to a token
)

const liveActivitySuffix = ".push-type.liveactivity"

// refusal is an answer other than 200.
type refusal struct {
	status int
	reason string
	since  time.Time // with 410
}

func refuse(status int, reason string) *refusal { return &refusal{status: status, reason: reason} }

// request is a push as received.
type request struct {
	method, path string
	header       http.Header
	body         []byte
	now          time.Time

	id       string // echoed, or created here
	priority int
	expires  int64
	token    string
	target   *endpoint // set by the checks
	channel  *channel  // the same for a broadcast
	conn     *conn     // the connection it arrived on
}

// check is a rule; it returns nil if the push passes.
type check func(*Sandbox, *request) *refusal

// checks returns the rules in Apple's order, following Pushy's validating handler: the first broken rule is the answer.
func checks() []check {
	return []check{
		(*Sandbox).checkID,
		(*Sandbox).checkMethod,
		(*Sandbox).checkRepeated,
		(*Sandbox).checkTopic,
		(*Sandbox).checkCollapseID,
		(*Sandbox).checkPriority,
		(*Sandbox).checkExpiration,
		(*Sandbox).checkType,
		(*Sandbox).checkPath,
		(*Sandbox).checkToken,
		(*Sandbox).checkTokenTopic,
		(*Sandbox).checkProvider,
		(*Sandbox).checkKnown,
		(*Sandbox).checkSize,
		(*Sandbox).checkRate,
	}
}

func (s *Sandbox) validate(r *request, rules []check) *refusal {
	for _, c := range rules {
		if refused := c(s, r); refused != nil {
			return refused
		}
	}
	return nil
}

func (s *Sandbox) checkID(r *request) *refusal {
	return checkUUID(r, "apns-id")
}

func checkUUID(r *request, name string) *refusal {
	given := r.header.Get(name)
	if given == "" {
		return nil
	}
	if len(given) != 36 || uuid.Validate(given) != nil { // only the canonical form
		return refuse(http.StatusBadRequest, "BadMessageId")
	}
	r.id = given
	return nil
}

func (s *Sandbox) checkMethod(r *request) *refusal {
	if r.method != http.MethodPost {
		return refuse(http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
	return nil
}

func (s *Sandbox) checkRepeated(r *request) *refusal {
	for name, values := range r.header {
		if len(values) > 1 && (strings.HasPrefix(name, "Apns-") || name == "Authorization") {
			return refuse(http.StatusBadRequest, "DuplicateHeaders")
		}
	}
	return nil
}

func (s *Sandbox) checkTopic(r *request) *refusal {
	topic := r.header.Get("apns-topic")
	switch {
	case topic == "":
		return refuse(http.StatusBadRequest, "MissingTopic")
	case strings.ContainsAny(topic, " /\t"):
		return refuse(http.StatusBadRequest, "BadTopic")
	case topic != s.cfg.BundleID && topic != s.cfg.BundleID+liveActivitySuffix:
		return refuse(http.StatusBadRequest, "TopicDisallowed")
	}
	return nil
}

func (s *Sandbox) checkCollapseID(r *request) *refusal {
	if len(r.header.Get("apns-collapse-id")) > maxCollapseID {
		return refuse(http.StatusBadRequest, "BadCollapseId")
	}
	return nil
}

func (s *Sandbox) checkPriority(r *request) *refusal {
	switch r.header.Get("apns-priority") {
	case "", "10":
		r.priority = 10
	case "5":
		r.priority = 5
	case "1":
		r.priority = 1
	default:
		return refuse(http.StatusBadRequest, "BadPriority")
	}
	if r.priority == 10 && r.header.Get("apns-push-type") == "background" {
		return refuse(http.StatusBadRequest, "BadPriority")
	}
	return nil
}

func (s *Sandbox) checkExpiration(r *request) *refusal {
	v := r.header.Get("apns-expiration")
	if v == "" {
		return nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return refuse(http.StatusBadRequest, "BadExpirationDate")
	}
	r.expires = n
	return nil
}

// checkType requires a push type that this app uses, with the matching topic.
func (s *Sandbox) checkType(r *request) *refusal {
	forActivity := strings.HasSuffix(r.header.Get("apns-topic"), liveActivitySuffix)
	switch r.header.Get("apns-push-type") {
	case "liveactivity":
		if !forActivity {
			return refuse(http.StatusBadRequest, "BadTopic")
		}
	case "alert", "background":
		if forActivity {
			return refuse(http.StatusBadRequest, "BadTopic")
		}
	default:
		return refuse(http.StatusBadRequest, "InvalidPushType")
	}
	return nil
}

func (s *Sandbox) checkPath(r *request) *refusal {
	token, ok := strings.CutPrefix(r.path, "/3/device")
	if !ok {
		return refuse(http.StatusNotFound, "BadPath")
	}
	if token == "" || token == "/" {
		return refuse(http.StatusBadRequest, "MissingDeviceToken")
	}
	if token[0] != '/' {
		return refuse(http.StatusNotFound, "BadPath")
	}
	r.token = strings.ToLower(token[1:])
	if _, err := hex.DecodeString(r.token); err != nil || len(r.token) < minTokenDigits || len(r.token) > maxTokenDigits {
		return refuse(http.StatusBadRequest, "BadDeviceToken")
	}
	return nil
}

// checkToken refuses dead tokens. Unknown ones are left to checkKnown: as at Apple, a sender without a valid
// provider token does not learn about them.
func (s *Sandbox) checkToken(r *request) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.tokens[r.token]
	if e == nil && s.cfg.Lenient {
		e = s.stranger(r)
	}
	if e == nil {
		return nil
	}
	if since, reason := e.deadSince(r.now); reason != "" {
		return &refusal{status: http.StatusGone, reason: reason, since: since}
	}
	r.target = e
	return nil
}

func (s *Sandbox) checkTokenTopic(r *request) *refusal {
	forActivity := strings.HasSuffix(r.header.Get("apns-topic"), liveActivitySuffix)
	if r.target != nil && forActivity != (r.target.kind != deviceToken) {
		return refuse(http.StatusBadRequest, "DeviceTokenNotForTopic")
	}
	return nil
}

func (s *Sandbox) checkProvider(r *request) *refusal {
	refused := s.provider.check(r.header.Get("authorization"))
	if refused == nil {
		s.trust(r.conn)
	}
	return refused
}

func (s *Sandbox) checkKnown(r *request) *refusal {
	if r.target == nil {
		return refuse(http.StatusBadRequest, "BadDeviceToken")
	}
	return nil
}

func (s *Sandbox) checkSize(r *request) *refusal {
	switch {
	case len(r.body) == 0:
		return refuse(http.StatusBadRequest, "PayloadEmpty")
	case len(r.body) > maxPayload:
		return refuse(http.StatusRequestEntityTooLarge, "PayloadTooLarge")
	}
	return nil
}

// checkRate allows one push per second to a token.
func (s *Sandbox) checkRate(r *request) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := r.target.last; !last.IsZero() && r.now.Sub(last) < tokenInterval {
		return refuse(http.StatusTooManyRequests, "TooManyRequests")
	}
	r.target.last = r.now
	return nil
}
