package replay

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

const (
	prefix  = "/api/v2.0"
	perPage = 100
)

// feed answers like the API, for one match.
type feed struct {
	m     *Match
	clock clock.Clock
	token string
	balls *ballPages
}

// NewFeed serves a match as SportMonks' Cricket API v2.0 does: /api/v2.0/livescores, /fixtures, /fixtures/{id} and
// /scores, to whoever sends token as api_token. Time is c's: in the Date header, and in how the match stands.
// An answer carries a strong ETag, and 304 without a body follows If-None-Match.
func NewFeed(m *Match, c clock.Clock, token string) http.Handler {
	f := &feed{m: m, clock: c, token: token, balls: &ballPages{m: m}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"/livescores", f.livescores)
	mux.HandleFunc("GET "+prefix+"/fixtures", f.fixtures)
	mux.HandleFunc("GET "+prefix+"/fixtures/{id}", f.fixture)
	mux.HandleFunc("GET "+prefix+"/scores", f.scores)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "Not Found.")
	})
	return f.admit(mux)
}

// admit dates every answer and asks for the token.
func (f *feed) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
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
	i := f.m.moment(f.clock.Now())
	inc := parseInclude(r.URL.Query().Get("include"))
	f.answer(w, r, f.tag("livescores", i, inc), func() [][]byte {
		if !f.m.moments[i].Live {
			return [][]byte{[]byte(`{"data":[]}`)}
		}
		return f.reply(i, inc, `{"data":[`, `]}`)
	})
}

func (f *feed) fixture(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != f.m.tape.ID {
		fail(w, http.StatusNotFound, "No query results for model [Fixture].")
		return
	}
	i := f.m.moment(f.clock.Now())
	inc := parseInclude(r.URL.Query().Get("include"))
	f.answer(w, r, f.tag("fixture", i, inc), func() [][]byte {
		return f.reply(i, inc, `{"data":`, `}`)
	})
}

// fixtures lists what starts between two instants, both included; the filter may be left out.
func (f *feed) fixtures(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page := 1
	if s := q.Get("page"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			fail(w, http.StatusBadRequest, "The page must be a number from 1.")
			return
		}
		page = n
	}
	found := true
	if s := q.Get("filter[starts_between]"); s != "" {
		from, to, err := startsBetween(s)
		if err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		at := f.m.balls[0].at
		found = !at.Before(from) && !at.After(to)
	}
	i := f.m.moment(f.clock.Now())
	inc := parseInclude(q.Get("include"))
	shown := found && page == 1
	tag := f.tag(fmt.Sprintf("fixtures-%t-%d", found, page), i, inc)
	f.answer(w, r, tag, func() [][]byte {
		after := `],` + paging(found, page) + `}`
		if !shown {
			return [][]byte{[]byte(`{"data":[` + after)}
		}
		return f.reply(i, inc, `{"data":[`, after)
	})
}

// startsBetween reads "2019-03-03,2019-03-15", days or timestamps; a day at the end is meant whole.
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

// paging writes links and meta as the API's lists have them, for a list of one or none.
func paging(found bool, page int) string {
	total := 0
	if found {
		total = 1
	}
	link := func(n int) string { return fmt.Sprintf(`"%s/fixtures?page=%d"`, prefix, n) }
	prev, from := "null", "null"
	if page > 1 {
		prev = link(page - 1)
	}
	if found && page == 1 {
		from = "1"
	}
	return fmt.Sprintf(`"links":{"first":%s,"last":%s,"prev":%s,"next":null},`+
		`"meta":{"current_page":%d,"from":%s,"last_page":1,"path":"%s/fixtures","per_page":%d,"to":%s,"total":%d}`,
		link(1), link(1), prev, page, from, prefix, perPage, from, total)
}

func (f *feed) scores(w http.ResponseWriter, r *http.Request) {
	f.answer(w, r, `"scores"`, func() [][]byte {
		var e encoder
		e.open("", '{')
		e.open("data", '[')
		for _, s := range catalogue() {
			e.comma()
			s.render(&e)
		}
		e.shut(']')
		e.shut('}')
		return [][]byte{e.b}
	})
}

// reply is the match at its i-th moment between two pieces of envelope.
func (f *feed) reply(i int, inc include, before, after string) [][]byte {
	mo := &f.m.moments[i]
	e := encoder{b: make([]byte, 0, 32<<10)}
	e.b = append(e.b, before...)
	f.m.fixture(&e, mo, inc)
	if !inc.has(incBalls) {
		e.b = append(append(e.b, '}'), after...)
		return [][]byte{e.b}
	}
	e.open("balls", '[')
	pieces := append([][]byte{e.b}, f.balls.upto(mo.Balls)...)
	return append(pieces, []byte("]}"+after))
}

// tag names an answer: what it shows is a function of the request's kind, the moment and the parts asked for.
func (f *feed) tag(kind string, moment int, inc include) string {
	return fmt.Sprintf(`"%s-%s-%d-%x"`, f.m.tape.ID, kind, moment, uint64(inc))
}

// answer sends a body, or 304 to who has it already; then it is not even made.
func (f *feed) answer(w http.ResponseWriter, r *http.Request, tag string, body func() [][]byte) {
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

// matches reads If-None-Match: a star, or tags, of which a weak one counts as well.
func matches(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimSpace(t); t == "*" || strings.TrimPrefix(t, "W/") == tag {
			return true
		}
	}
	return false
}
