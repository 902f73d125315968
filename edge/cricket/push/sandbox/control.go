package sandbox

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

//go:embed control.html
var controlFiles embed.FS

// scriptBody is a script in the format of the control endpoint.
type scriptBody struct {
	Token string `json:"token"` // or channel id; empty: all pushes, counted together
	N     int    `json:"n"`     // counted from now, starting at 1; 0: every push without its own answer
	Reply
	DelayMs int `json:"delayMs"`
}

// readScript reads the body of a request.
func readScript(r *http.Request) (b scriptBody, err error) {
	err = readJSON(r, &b)
	b.Delay = time.Duration(b.DelayMs) * time.Millisecond
	return b, err
}

// PhoneTokens is a phone with the tokens that a developer's sender needs.
type PhoneTokens struct {
	PhoneView
	DeviceToken      string            `json:"deviceToken"`
	PushToStartToken string            `json:"pushToStartToken"`
	UpdateTokens     map[string]string `json:"updateTokens"` // by match
}

// TokensOfPhones is Phones with tokens.
func (s *Sandbox) TokensOfPhones() []PhoneTokens {
	views := s.Phones()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]PhoneTokens, len(views))
	for i, v := range views {
		ph := s.phones[i] // phones are never removed
		out[i] = PhoneTokens{PhoneView: v, DeviceToken: ph.DeviceToken, PushToStartToken: ph.PushToStartToken, UpdateTokens: map[string]string{}}
		for _, a := range ph.activities {
			if a.token != "" && !a.isOver(s.cfg.Clock.Now()) {
				out[i].UpdateTokens[a.matchID] = a.token
			}
		}
	}
	return out
}

// Control returns the handler with which people and tests inspect and control the sandbox. It shows whole tokens
// without any protection: serve it on a loopback address.
func (s *Sandbox) Control() http.Handler {
	mux := http.NewServeMux()
	page := template.Must(template.ParseFS(controlFiles, "control.html"))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { s.controlPage(w, page) })
	mux.HandleFunc("GET /log", s.answerer(func(r *http.Request) (any, error) {
		after, err := strconv.ParseUint(cmp.Or(r.FormValue("after"), "0"), 10, 64)
		if err != nil {
			return nil, fault.New(fault.Invalid, "after", "after is not a number")
		}
		return map[string]any{"pushes": s.Records(after)}, nil
	}))
	mux.HandleFunc("GET /log.txt", s.logText)
	mux.HandleFunc("GET /phones", s.answerer(func(*http.Request) (any, error) {
		return map[string]any{"phones": s.TokensOfPhones()}, nil
	}))
	mux.HandleFunc("POST /phones", s.answerer(s.controlAddPhone))
	mux.HandleFunc("POST /phones/{device}/{what}", s.answerer(s.controlPhone))
	mux.HandleFunc("POST /tokens/{token}/unregister", s.answerer(func(r *http.Request) (any, error) {
		s.Unregister(strings.ToLower(r.PathValue("token")))
		return nil, nil
	}))
	mux.HandleFunc("GET /channels", s.answerer(func(*http.Request) (any, error) {
		return map[string]any{"channels": s.Channels()}, nil
	}))
	mux.HandleFunc("GET /counts", s.answerer(func(*http.Request) (any, error) {
		return map[string]any{"answers": s.Counts(), "connections": s.Connections(), "beyondStreams": s.StreamsBeyond()}, nil
	}))
	s.controlFaults(mux)
	return http.NewCrossOriginProtection().Handler(mux)
}

// controlFaults adds the routes that cause faults.
func (s *Sandbox) controlFaults(mux *http.ServeMux) {
	mux.HandleFunc("POST /scripts", s.answerer(func(r *http.Request) (any, error) {
		b, err := readScript(r)
		if err != nil {
			return nil, err
		}
		s.Script(b.Token, b.N, b.Reply)
		return nil, nil
	}))
	mux.HandleFunc("DELETE /scripts", s.answerer(func(*http.Request) (any, error) {
		s.ClearScripts()
		return nil, nil
	}))
	mux.HandleFunc("POST /burst", s.answerer(func(r *http.Request) (any, error) {
		b, err := readScript(r)
		if err != nil {
			return nil, err
		}
		if b.N < 1 || b.N > 100_000 {
			return nil, fault.New(fault.Invalid, "n", "n, the number of pushes to answer like this, must be from 1 to 100000")
		}
		s.Burst(b.N, b.Reply)
		return nil, nil
	}))
	mux.HandleFunc("POST /goaway", s.answerer(func(*http.Request) (any, error) {
		s.GoAway()
		return nil, nil
	}))
	mux.HandleFunc("POST /streams", s.answerer(func(r *http.Request) (any, error) {
		b, err := readScript(r)
		if err != nil {
			return nil, err
		}
		if b.Streams < 1 || b.Streams > manyStreams {
			return nil, fault.New(fault.Invalid, "streams", "streams, the number per connection, must be from 1 to %d", manyStreams)
		}
		s.SetStreams(b.Streams)
		return nil, nil
	}))
}

// controlBody bounds the body of a control request.
const controlBody = 64 << 10

func readJSON(r *http.Request, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, controlBody))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fault.Wrap(err, fault.Invalid, "body", "the body is not the expected JSON: %s", err)
	}
	return nil
}

// answerer returns a handler that sends f's answer as JSON, or 204 if there is none.
func (s *Sandbox) answerer(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		switch {
		case err != nil:
			status := http.StatusBadRequest
			if fault.Is(err, fault.NotFound) {
				status = http.StatusNotFound
			}
			text := err.Error()
			if e, ok := errors.AsType[*fault.Error](err); ok {
				text = e.Message
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
		case v == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
	}
}

// controlAddPhone adds a phone, {"name", "osVersion"}, and returns its tokens.
func (s *Sandbox) controlAddPhone(r *http.Request) (any, error) {
	var p Phone
	if err := readJSON(r, &p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	n := len(s.phones) + 1
	s.mu.Unlock()
	p.Name, p.DeviceID = cmp.Or(p.Name, fmt.Sprintf("Phone %d", n)), cmp.Or(p.DeviceID, fmt.Sprintf("phone-%d", n))
	on, err := s.AddPhone(p, nil)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"name": on.Name, "deviceId": on.DeviceID, "deviceToken": on.DeviceToken, "pushToStartToken": on.PushToStartToken,
	}, nil
}

// controlPhone does to a phone's activity what its owner or system would: ?match=.
func (s *Sandbox) controlPhone(r *http.Request) (any, error) {
	device, match := r.PathValue("device"), r.FormValue("match")
	switch r.PathValue("what") {
	case "rotate":
		return nil, s.Rotate(r.Context(), device, match)
	case "dismiss":
		return nil, s.Dismiss(r.Context(), device, match)
	case "kill":
		s.Kill(device)
		return nil, nil
	default:
		return nil, fault.New(fault.NotFound, "what", "the action must be rotate, dismiss or kill")
	}
}

// logText writes the log with one line per push, newest last.
func (s *Sandbox) logText(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, rec := range s.Records(0) {
		fmt.Fprintln(w, rec.line())
	}
}

// line formats a record for people.
func (r *Record) line() string {
	to := r.Phone
	switch {
	case r.Channel != "":
		to = "channel " + r.Channel
	case to == "":
		to = "token " + r.Token
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s  %d", r.At.Format("15:04:05.000"), r.Status)
	if r.Reason != "" {
		fmt.Fprintf(b, " %s", r.Reason)
	}
	fmt.Fprintf(b, "  %s  p%d %s %s  %d bytes", to, r.Priority, r.Type, r.Event, r.Bytes)
	if r.Alert != nil {
		fmt.Fprintf(b, "  %q: %q", r.Alert.Title, r.Alert.Body)
	}
	if r.Shown != "" {
		fmt.Fprintf(b, "  (%s)", r.Shown)
	}
	return b.String()
}

// controlPage shows phones and the latest pushes, newest first.
func (s *Sandbox) controlPage(w http.ResponseWriter, page *template.Template) {
	records := s.Records(0)
	type line struct {
		Text, Payload string
		Bad           bool
	}
	lines := make([]line, 0, len(records))
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		lines = append(lines, line{r.line(), string(r.Payload), r.Status != http.StatusOK || strings.HasPrefix(r.Shown, "ignored")})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = page.Execute(w, map[string]any{ // nothing can be done if the reader is gone
		"Phones": s.TokensOfPhones(), "Lines": lines, "Answers": s.Counts(), "Account": s.Account(), "URL": s.URL(),
	})
}
