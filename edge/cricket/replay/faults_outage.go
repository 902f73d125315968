package replay

import (
	"net/http"
	"strconv"
	"time"
)

// outage is a period in which the feed does not answer properly.
type outage struct {
	from, to time.Time
	answer   func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

// outage plans errors after a time: usually none, usually short.
func (p *planner) outage(at time.Time) {
	var d time.Duration
	switch {
	case p.chance(30):
		d = p.randomDuration(1, 12)
	case p.chance(1200):
		d = p.randomDuration(60, 360)
	default:
		return
	}
	from := at.Add(p.randomDuration(0, 30))
	answers := []func(http.ResponseWriter, *http.Request, http.Handler){
		tooMany(1 + p.pickNumber(9)), tooMany(30), tooMany(0), refusal(500), refusal(502), refusal(503), page, answerTruncated, cut, silent,
	}
	p.outages = append(p.outages, outage{from, from.Add(d), answers[p.pickNumber(len(answers))]})
}

// outages wraps the answers of a feed whose matches have faults.
func (f *feed) outages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := f.clock.Wall()
		for _, s := range f.shows() {
			if s.faulty == nil {
				continue
			}
			for i := range s.faulty.outages {
				if t := &s.faulty.outages[i]; !now.Before(t.from) && now.Before(t.to) {
					t.answer(w, r, next)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// tooMany answers 429 with nothing left of the window, whose end it does not give, and with a Retry-After in seconds unless that is 0.
func tooMany(seconds int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("X-RateLimit-Limit", "2000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		if seconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
		fail(w, http.StatusTooManyRequests, "Too Many Attempts.")
	}
}

func refusal(status int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		fail(w, status, "Server Error")
	}
}

// page answers 200 with HTML, like a proxy or a captive portal.
func page(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<!DOCTYPE html><html><body>One moment, please.</body></html>"))
}

// answerTruncated answers truncated JSON as if it were complete.
func answerTruncated(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"data":[{"resource":"fixtures","id":1`))
}

// cut sends the beginning of the answer and breaks the connection.
func cut(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r = r.Clone(r.Context())
	r.Header.Del("If-None-Match")
	next.ServeHTTP(&cutting{ResponseWriter: w, left: 2000}, r)
	panic(http.ErrAbortHandler)
}

// cutting lets only a few bytes through.
type cutting struct {
	http.ResponseWriter
	left int
}

// Write implements http.ResponseWriter.
func (c *cutting) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// silent breaks the connection without an answer. Transport makes a timeout of it.
func silent(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
