package replay

import (
	"cmp"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

const (
	prefix  = "/api/v2.0"
	perPage = 100
)

// feed answers like the API, for the current matches.
type feed struct {
	shows func() []*show
	clock clock.Clock
	token string
}

// show is a match on a feed.
type show struct {
	m      *Match
	faulty *faultyFeed // nil: no faults
	balls  *ballPages
}

func newShow(m *Match, faults uint64) *show {
	s := &show{m: m, balls: &ballPages{m: m}}
	if faults != 0 {
		s.faulty = newFaultyFeed(m, faults)
		s.balls.stamps, s.balls.ids = s.faulty.stamps, s.faulty.ids
	}
	return s
}

// now returns what the match's answers show at a time; tag stays the same while that does.
func (s *show) now(at time.Time) (v *view, tag string) {
	if s.faulty != nil {
		return s.faulty.view(at)
	}
	i := s.m.moment(at)
	return &view{Moment: s.m.moments[i]}, strconv.Itoa(i)
}

// NewFeed serves a match as SportMonks' Cricket API v2.0 does: /api/v2.0/livescores, /fixtures, /fixtures/{id}, /scores,
// /leagues, /seasons, /teams and /teams/{id}/squad/{season}, to requests with token as api_token. Time is c's, in the Date
// header and in the state of the match. Answers have a strong ETag, and If-None-Match is answered with 304 and no body.
//
// faults is the seed of the feed's faults, which are the same for the same match and seed: balls that are
// revised, deleted, repeated and out of order, inconsistent and late answers, false results, errors and no
// answers; 0 means no faults. At the latest ten minutes after the end of a match its answers are correct.
func NewFeed(m *Match, c clock.Clock, token string, faults uint64) http.Handler {
	shows := []*show{newShow(m, faults)}
	return newFeed(func() []*show { return shows }, c, token)
}

func newFeed(shows func() []*show, c clock.Clock, token string) http.Handler {
	f := &feed{shows: shows, clock: c, token: token}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"/livescores", f.livescores)
	mux.HandleFunc("GET "+prefix+"/fixtures", f.fixtures)
	mux.HandleFunc("GET "+prefix+"/fixtures/{id}", f.fixture)
	mux.HandleFunc("GET "+prefix+"/scores", f.scores)
	mux.HandleFunc("GET "+prefix+"/leagues", f.leagues)
	mux.HandleFunc("GET "+prefix+"/seasons", f.seasons)
	mux.HandleFunc("GET "+prefix+"/teams", f.teams)
	mux.HandleFunc("GET "+prefix+"/teams/{id}/squad/{season}", f.squad)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "Not Found.")
	})
	return f.admit(f.outages(mux))
}

// admit adds the date to every answer and checks the token.
func (f *feed) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", f.clock.Wall().UTC().Format(http.TimeFormat))
		got := r.URL.Query().Get("api_token")
		if subtle.ConstantTimeCompare([]byte(got), []byte(f.token)) != 1 {
			fail(w, http.StatusUnauthorized, "Unauthenticated.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q}`, message)
}

func (f *feed) livescores(w http.ResponseWriter, r *http.Request) {
	inc := parseInclude(r.URL.Query().Get("include"))
	f.list(w, r, "livescores", inc, func(_ *show, v *view) bool { return v.Live && !v.absent }, `]}`)
}

// list answers with the matches selected by wanted, followed by the rest of the list.
func (f *feed) list(w http.ResponseWriter, r *http.Request, kind string, inc include, wanted func(*show, *view) bool, after string) {
	type one struct {
		s *show
		v *view
	}
	var all []one
	now := f.clock.Wall()
	for _, s := range f.shows() {
		v, tag := s.now(now)
		listed := wanted(s, v)
		kind += fmt.Sprintf("-%s:%s:%t", s.m.rec.ID, tag, listed)
		if listed {
			all = append(all, one{s, v})
		}
	}
	answerWith(w, r, fmt.Sprintf(`"%s-%x"`, kind, uint64(inc)), func() [][]byte {
		pieces := [][]byte{[]byte(`{"data":[`)}
		for i, o := range all {
			if i > 0 {
				pieces = append(pieces, []byte{','})
			}
			pieces = append(pieces, o.s.render(o.v, inc)...)
		}
		return append(pieces, []byte(after))
	})
}

func (f *feed) fixture(w http.ResponseWriter, r *http.Request) {
	for _, s := range f.shows() {
		if r.PathValue("id") != s.m.rec.ID {
			continue
		}
		v, tag := s.now(f.clock.Wall())
		inc := parseInclude(r.URL.Query().Get("include"))
		answerWith(w, r, fmt.Sprintf(`"%s-fixture-%s-%x"`, s.m.rec.ID, tag, uint64(inc)), func() [][]byte {
			return append(append([][]byte{[]byte(`{"data":`)}, s.render(v, inc)...), []byte(`}`))
		})
		return
	}
	fail(w, http.StatusNotFound, "No query results for model [Fixture].")
}

// fixtures lists the matches that start between two times, inclusive; the filter is optional.
func (f *feed) fixtures(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, ok := pageOf(w, q)
	if !ok {
		return
	}
	within := func(time.Time) bool { return true }
	if s := q.Get("filter[starts_between]"); s != "" {
		from, to, err := startsBetween(s)
		if err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		within = func(at time.Time) bool { return !at.Before(from) && !at.After(to) }
	}
	total := 0
	for _, s := range f.shows() {
		if within(s.m.balls[0].at) {
			total++
		}
	}
	inc := parseInclude(q.Get("include"))
	f.list(w, r, fmt.Sprintf("fixtures-%d", page), inc, func(s *show, _ *view) bool {
		return page == 1 && within(s.m.balls[0].at)
	}, `],`+paging("fixtures", total, page)+`}`)
}

// pageOf returns the requested page; ok is false if it was invalid, and has been answered.
func pageOf(w http.ResponseWriter, q url.Values) (page int, ok bool) {
	page, err := strconv.Atoi(cmp.Or(q.Get("page"), "1"))
	if err != nil || page < 1 {
		fail(w, http.StatusBadRequest, "The page must be a number from 1.")
		return 0, false
	}
	return page, true
}

// startsBetween parses "2019-03-03,2019-03-15", days or timestamps; an end day is included as a whole.
func startsBetween(s string) (from, to time.Time, err error) {
	a, b, ok := strings.Cut(s, ",")
	from, _, errFrom := instant(a)
	to, day, errTo := instant(b)
	if !ok || errFrom != nil || errTo != nil {
		return from, to, fmt.Errorf("starts_between takes two dates")
	}
	if day {
		to = to.AddDate(0, 0, 1).Add(-time.Nanosecond)
	}
	return from, to, nil
}

func instant(s string) (t time.Time, day bool, err error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime} {
		if t, err = time.Parse(layout, s); err == nil {
			return t, false, nil
		}
	}
	t, err = time.Parse(time.DateOnly, s)
	return t, true, err
}

// paging writes links and meta as in the API's lists, for a list that fits on one page.
func paging(list string, total, page int) string {
	link := func(n int) string { return fmt.Sprintf(`"%s/%s?page=%d"`, prefix, list, n) }
	prev, from, to := "null", "null", 0
	if page > 1 {
		prev = link(page - 1)
	}
	if total > 0 && page == 1 {
		from, to = "1", total
	}
	return fmt.Sprintf(`"links":{"first":%s,"last":%s,"prev":%s,"next":null},`+
		`"meta":{"current_page":%d,"from":%s,"last_page":1,"path":"%s/%s","per_page":%d,"to":%d,"total":%d}`,
		link(1), link(1), prev, page, from, prefix, list, perPage, to, total)
}

func (f *feed) scores(w http.ResponseWriter, r *http.Request) {
	answerWith(w, r, `"scores"`, func() [][]byte {
		var e encoder
		e.open("", '{')
		e.open("data", '[')
		for _, s := range catalogue() {
			e.comma()
			s.render(&e)
		}
		e.closeBracket(']')
		e.closeBracket('}')
		return [][]byte{e.b}
	})
}

// render returns the JSON of a match in a view, in pieces.
func (s *show) render(v *view, inc include) [][]byte {
	e := encoder{b: make([]byte, 0, 32<<10)}
	s.m.fixture(&e, v, inc)
	switch {
	case !inc.has(incBalls &^ v.lacks):
		e.b = append(e.b, '}')
		return [][]byte{e.b}
	case v.empties.has(incBalls):
		e.raw("balls", "[]}")
		return [][]byte{e.b}
	}
	e.open("balls", '[')
	pieces := append([][]byte{e.b}, s.balls.ballPieces(v)...)
	return append(pieces, []byte("]}"))
}

// answerWith sends a body, or 304 to a client that has it already, without building it.
func answerWith(w http.ResponseWriter, r *http.Request, tag string, body func() [][]byte) {
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	pieces := body()
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(n))
	for _, p := range pieces {
		if _, err := w.Write(p); err != nil {
			return // the client has gone
		}
	}
}

// matches reports whether If-None-Match matches: a star, or a list of tags, weak ones included.
func matches(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimSpace(t); t == "*" || strings.TrimPrefix(t, "W/") == tag {
			return true
		}
	}
	return false
}
