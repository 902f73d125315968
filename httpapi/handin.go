package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

// A device that cannot send its entries saves them as a file (assets/save.js), which somebody else gives to a node. The node parses the file, shows
// each entry in its own words, and has whoever gives it confirm them. Then it makes a request of each entry, which passes the same
// handlers as any other: with the rights of who hands it in, and the key of the device that made it. So an entry that has arrived counts once.

const (
	pathHandIn = "/handover" // below an application's pages

	handInsAMinute = 20
	handInWithin   = 20 * time.Second // the answer has to be sent within answerWithin
	mostFormMemory = 2 << 20          // more than a body may have, so that nothing is written to the disk
)

// handing is an entry on its way through the handlers. A request has one only if this node has made it.
type handing struct {
	app    *mounted
	by     auth.Identity // who hands it in
	entry  *handover.Entry
	review bool // it is not carried out: the node says what it asks for

	words    string
	failure  *Failure
	params   gin.Params // of the route that has refused it
	repeated bool
}

type handingKey struct{}

const keyTakesFiles = "touchline.takesFiles" // entries of the request's route can be handed in

// handingOf returns the entry that a request stands for; nil: it is an ordinary request.
func handingOf(c *gin.Context) *handing {
	h, _ := c.Request.Context().Value(handingKey{}).(*handing)
	return h
}

// HandedIn tells of the device that made an entry which somebody else hands in.
type HandedIn struct {
	Device string // hash
	maker  string
}

// Handed returns whose entry is handed in; ok is false for an ordinary request.
func Handed(c *gin.Context) (of HandedIn, ok bool) {
	h := handingOf(c)
	if h == nil {
		return of, false
	}
	return HandedIn{h.entry.Device, h.entry.Maker}, true
}

// MadeBy returns who among users made the entry, as its file says; otherwise the device, "device:" and its hash.
func (h HandedIn) MadeBy(users []string) string {
	for _, user := range users {
		if h.maker != "" && pseudonym(user) == h.maker {
			return user
		}
	}
	return DeviceScope + h.Device
}

// handInRoutes serves the page where files of entries are given to the node, if there are such entries.
func (m *mounted) handInRoutes() []Route {
	for _, r := range m.Routes {
		if m.Offline && (r.Say != nil || r.NotHandedIn != "") {
			return []Route{
				{Method: http.MethodGet, Path: pathHandIn, Access: User, Do: m.getHandIn},
				{Method: http.MethodPost, Path: pathHandIn, Access: User, Do: m.postHandIn},
			}
		}
	}
	return nil
}

// handsIn reports whether the application takes any entries as a file.
func (m *mounted) handsIn() bool {
	for _, r := range m.Routes {
		if r.Say != nil {
			return true
		}
	}
	return false
}

// admitHanded refuses entries of a file for a route that takes none. It comes before everything that a route does.
func (s *Server) admitHanded(r placed) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set(keyTakesFiles, r.Say != nil)
		h := handingOf(c)
		switch {
		case h == nil || r.app == h.app && r.Say != nil:
		case r.app == h.app && r.NotHandedIn != "":
			s.fail(c, fault.New(fault.Forbidden, "stays", "%s", r.NotHandedIn))
		default:
			s.fail(c, notAnEntry())
		}
	}
}

func notAnEntry() error {
	return fault.New(fault.Forbidden, "not_an_entry", "This cannot be handed in: only the device that made it can send it.")
}

// doHanded carries an entry out, or has it described; other requests are done.
func doHanded(r placed) Handler {
	return func(c *gin.Context) error {
		if h := handingOf(c); h != nil && h.review {
			return r.app.say(c, &r.Route)
		}
		return r.Do(c)
	}
}

// allowHanded admits who hands an entry in, as the page has identified them.
func (s *Server) allowHanded(c *gin.Context, a Access, h *handing) error {
	s.noteBucket(c, h.by)
	if a != Public {
		c.Set(keyIdentity, h.by)
	}
	return permit(a, h.by, nil)
}

func (m *mounted) getHandIn(c *gin.Context) error {
	return m.handInPage(c, http.StatusOK, &page.HandIn{})
}

// postHandIn shows the entries of a file, or carries them out if they were confirmed.
func (m *mounted) postHandIn(c *gin.Context) error {
	s := m.views.s
	if err := errors.Join(s.ownPage(c.Request), m.handIns(c)); err != nil {
		return err
	}
	file, confirmed, err := readHandIn(c, m.scope())
	if err != nil {
		f := FailureOf(err)
		return m.handInPage(c, f.Status, &page.HandIn{Problem: f.Message})
	}
	in, err := m.handIn(c, file, confirmed)
	if err != nil {
		return err
	}
	return m.handInPage(c, http.StatusOK, in)
}

func (m *mounted) handInPage(c *gin.Context, status int, in *page.HandIn) error {
	in.At = m.scope() + strings.TrimPrefix(pathHandIn, "/")
	body, err := renderFramed(c, "handin", "Hand in entries", in, "")
	return HTML(c, status, body, err)
}

// readHandIn reads a file of entries from a form: as it was chosen, or as the page with the entries has it.
func readHandIn(c *gin.Context, scope string) (f *handover.File, confirmed bool, err error) {
	err = c.Request.ParseMultipartForm(mostFormMemory)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, false, fault.New(fault.TooLarge, "too_large", "The file is larger than 1 MB.")
	}
	if err != nil {
		return nil, false, fault.New(fault.Invalid, "bad_file", "The file did not arrive completely.")
	}
	raw, confirmed := []byte(c.Request.PostFormValue("entries")), true
	if len(raw) == 0 {
		confirmed = false
		if raw, err = chosenFile(c.Request); err != nil {
			return nil, false, err
		}
	}
	if f, err = handover.ParseFile(raw); err == nil && f.Scope != scope {
		err = fault.New(fault.Invalid, "bad_file", "The file is of another application, or of a node that serves it at another address.")
	}
	return f, confirmed, err
}

func chosenFile(r *http.Request) ([]byte, error) {
	missing := fault.New(fault.Invalid, "bad_file", "Choose a file first.")
	file, _, err := r.FormFile("file")
	if err != nil {
		return nil, missing
	}
	defer file.Close()
	raw, err := io.ReadAll(file)
	if err != nil || len(raw) == 0 {
		return nil, missing
	}
	return raw, nil
}

// handIn shows the entries of a file, or carries them out in their order.
func (m *mounted) handIn(c *gin.Context, f *handover.File, confirmed bool) (*page.HandIn, error) {
	s := m.views.s
	started := s.wall.Now()
	in := &page.HandIn{Done: confirmed}
	ready := 0
	for i := range f.Entries {
		e := &f.Entries[i]
		row := page.HandInRow{At: earlier(e.Made(), s.cfg.Clock.Wall()).UTC(), State: page.HandInLater}
		if s.wall.Now().Sub(started) < handInWithin {
			m.handInOne(c, e, confirmed, &row)
		}
		if row.State == page.HandInReady {
			ready++
		}
		in.Again = in.Again || confirmed && row.State == page.HandInLater
		in.Rows = append(in.Rows, row)
	}
	in.Count(ready)
	if !in.Again && (confirmed || ready == 0) {
		return in, nil
	}
	raw, err := f.Encode()
	in.File = string(raw)
	return in, err
}

func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// handInOne has the node describe an entry, carries it out if it was confirmed, and notes what became of it.
func (m *mounted) handInOne(c *gin.Context, e *handover.Entry, confirmed bool, row *page.HandInRow) {
	h := m.pass(c, e, true)
	row.What = h.words
	if confirmed && h.failure == nil {
		h = m.pass(c, e, false)
	}
	switch {
	case h.failure != nil:
		row.Refuse(h.failure.Status, h.refusalWords())
	case !confirmed:
		row.State = page.HandInReady
	case h.repeated:
		row.State = page.HandInAlready
	default:
		row.State = page.HandInCounted
	}
}

// passed are the headers of who hands an entry in that its request has too: who they are, and where from.
var passed = []string{
	"Authorization", "Cookie", "Forwarded", "Origin", "Sec-Fetch-Mode", "Sec-Fetch-Site", "User-Agent", "Via", "X-Api-Key", "X-Forwarded-For", "X-Forwarded-Host",
	"X-Forwarded-Proto", "X-Real-Ip",
}

// pass sends an entry through the handlers.
func (m *mounted) pass(c *gin.Context, e *handover.Entry, review bool) *handing {
	s := m.views.s
	who, _ := Identity(c)
	h := &handing{app: m, by: who, entry: e, review: review}
	u, ok := e.CheckPath(m.prefix)
	if !ok {
		f := FailureOf(notAnEntry())
		h.failure = &f
		return h
	}
	u.RawPath = strings.ReplaceAll(u.RawPath, "+", "%2B") // as of any other request: see compressed
	r, err := http.NewRequestWithContext(context.WithValue(c.Request.Context(), handingKey{}, h), e.Method, "/", strings.NewReader(e.Body))
	if err != nil {
		f := FailureOf(err)
		h.failure = &f
		return h
	}
	r.URL, r.Host, r.RemoteAddr, r.TLS = u, c.Request.Host, c.Request.RemoteAddr, c.Request.TLS
	for _, name := range passed {
		r.Header[name] = c.Request.Header[name]
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(headerKey, e.Key)
	r.Header.Set(headerOccurred, strconv.FormatFloat(s.cfg.Clock.Wall().Sub(e.Made()).Seconds(), 'f', 1, 64))
	r.Header.Set(headerSure, "1")
	w := &unsent{header: http.Header{}}
	s.engine.ServeHTTP(w, r)
	h.repeated = h.repeated || w.header.Get(headerSeq) == "" // it has changed nothing
	return h
}

// unsent is an answer that goes to nobody.
type unsent struct{ header http.Header }

func (w *unsent) Header() http.Header         { return w.header }
func (w *unsent) Write(b []byte) (int, error) { return len(b), nil }
func (w *unsent) WriteHeader(int)             {}

// fieldName is the form of the names of our fields: an entry may name others, whose text is not shown.
var fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,30}$`)

// refusalWords returns why an entry was refused.
func (h *handing) refusalWords() string {
	words := []string{h.failure.Message}
	for _, d := range h.failure.Details {
		words = append(words, detailWords(d))
	}
	return h.withoutTexts(strings.Join(words, " "))
}

func detailWords(d bind.Detail) string {
	if !fieldName.MatchString(d.Field) {
		return "A field is not known here, or wrong."
	}
	return d.Field + " " + d.Message + "."
}

const shortText = 5 // bytes; shorter texts of an entry say nothing

// withoutTexts returns words without the texts of the entry that they repeat: the values in its path, and the strings in its body.
func (h *handing) withoutTexts(words string) string {
	texts := stringsIn(json.RawMessage(h.entry.Body))
	for _, p := range h.params {
		texts = append(texts, p.Value)
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	for _, text := range texts {
		if len(text) >= shortText {
			words = strings.ReplaceAll(words, text, "…")
		}
	}
	return words
}

// stringsIn returns the strings among the values of a JSON text.
func stringsIn(raw json.RawMessage) (all []string) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(v)
	return all
}
