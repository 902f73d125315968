package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/storetest"
)

// taps is the counter with a page that works offline: large keys, each tap of which is a row. The page shows them, and uses the parts
// of the kit.
type taps struct {
	*counter
	look  *page.Renderer
	extra []string // text of a version
}

// tapped is a stored tap.
type tapped struct{ Key, By, At string }

// newTaps configures a node with that application over a store that outlives it. Versions differ in their text.
func newTaps(t testing.TB, s *store.Store, version string) (*Config, *taps) {
	t.Helper()
	look, err := page.New("/counter/-", fstest.MapFS{"templates/taps.html": {Data: []byte(
		`{{define "taps-page"}}<header class="top"><a class="brand" href="{{at "/"}}">counter</a></header><main id="content" class="wall wall--list">` +
			`{{.Parts.count}}{{.Parts.keys}}{{.Parts.list}}</main>{{end}}{{define "count"}}<section class="head" data-part="count">` +
			`<h1 class="head__title">Taps {{.Version}}</h1><p class="head__figure num" data-wash="score">{{.Taps}}</p></section>{{end}}` +
			`{{define "list"}}{{template "kit-timeline" .}}{{end}}{{define "keys"}}<section data-part="keys">` +
			`<form class="pad" method="post" action="/counter/taps" data-queue="POST" aria-label="Tap">{{range .Keys}}{{template "kit-key" .}}{{end}}</form><form class="form" method="post" action="/counter/taps" data-queue="POST"><div class="field"><label for="form-by">By</label>` +
			`<input id="form-by" name="by" type="number" data-type="number" inputmode="numeric" required></div><p class="form__do"><button class="button" type="submit">Send</button></p></form>` +
			`{{template "kit-countdown" countdown "Closes in" .Now .Closes "closed"}}{{template "kit-figure" qr "http://node.localhost/counter/-/"}}</section>{{end}}`,
	)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &taps{counter: newCounter(t, "counter", s), look: look, extra: []string{version}}
	a := f.app(t, "/counter")
	a.Look, a.Offline, a.View, a.Topics, a.Snapshot, a.Ensure = look, true, f.view, f.topic, nil, nil
	a.Routes = append(a.Routes, Route{Method: "POST", Path: "/taps", Access: User, Do: f.tap})
	return &Config{
		Apps: []App{a}, Store: s, Clock: clock.Real(), Version: version, Auth: web.ByName{Silent: auth.Identity{Subject: "u0"}},
	}, f
}

// tap: {by}. A tap of 9 is refused.
func (f *taps) tap(c *gin.Context) error {
	who, err := Subject(c)
	if err != nil {
		return err
	}
	b := Body(c)
	by := b.Whole("by", 9, 1)
	if err := b.Err(); err != nil {
		return err
	}
	row, err := f.once(c, who, by)
	if err != nil {
		return err
	}
	out, err := UpdateOnce(c, row, func(tx *store.Tx) (out idempotency.Outcome, writes []store.WriteItem, err error) {
		if by == 9 {
			return out, nil, fault.New(fault.Conflict, "nine", "Nobody taps nine times at once.")
		}
		at, err := OccurredAt(c, tx.Now())
		id := "tap#" + c.GetHeader("Idempotency-Key")
		item := attr.Item{"id": attr.S(id), "by": attr.Int(by), "at": attr.S(at.Format(time.RFC3339Nano))}
		out = idempotency.Outcome{Status: http.StatusCreated, IDs: map[string]string{"tap": id}}
		return out, []store.WriteItem{{Put: &store.PutItem{Table: f.table(), Item: item, Condition: "attribute_not_exists(id)"}}}, err
	})
	return Answer(c, http.StatusCreated, out.IDs, err)
}

// all returns the taps in the order in which they were accepted.
func (f *taps) all(ctx context.Context) (out []tapped, err error) {
	records, err := f.store.Journal(ctx, 0, 1000)
	for i := range records {
		if by, ok := records[i].New["by"].Int(); ok {
			out = append(out, tapped{records[i].New["id"].Str(), fmt.Sprint(by), records[i].New["at"].Str()})
		}
	}
	return out, err
}

func (f *taps) topic(r *store.Record) (sse.Change, bool, error) {
	return sse.Change{Frame: sse.NewFrame("tap", r.Seq, []byte("{}"))}, true, nil
}

func (f *taps) view(ctx context.Context, _ *operator.NodeStatus, _ string, last page.View) (page.View, error) {
	all, err := f.all(ctx)
	if err != nil {
		return page.View{}, err
	}
	list := page.Timeline{ID: "list", Title: "Taps", None: "Nobody has tapped."}
	for _, one := range all {
		list.Items = append([]page.Happening{{Key: one.Key, Kind: "good", Mark: one.By, Text: "Tapped " + one.By}}, list.Items...)
	}
	keys := map[string]any{"Now": time.Unix(0, 0), "Closes": time.Unix(3600, 0), "Keys": []map[string]any{
		{"Name": "by", "Value": "1", "Number": true, "Text": "+1"}, {"Name": "by", "Value": "2", "Number": true, "Text": "+2"},
		{"Name": "by", "Value": "3", "Number": true, "Text": "+3", "What": "A tap of three"}, {"Name": "by", "Value": "9", "Number": true, "Text": "+9"},
	}}
	score := map[string]any{"Version": f.extra[0], "Taps": len(all)}
	v, err := f.look.Parts(last, "Taps", []page.Block{{ID: "count", Data: score}, {ID: "keys", Data: keys}, {ID: "list", Data: list}})
	v.Kind = "taps"
	return v, err
}

var followed = regexp.MustCompile(`data-stream="([^"]*)"`)

// Pages and their parts have a version, which grows with each commit, and with each life of the node.
func TestVersionsOfPages(t *testing.T) {
	st := storetest.Open(t)
	cfg, _ := newTaps(t, st, "one")
	s := newServer(t, cfg)
	tap := func() {
		web.Ask(s.Handler(), "POST", "/counter/taps", `{"by":1}`, "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint(st.Seq()))
	}
	open := func() (version, stream string) {
		t.Helper()
		w := web.Ask(s.Handler(), "GET", "/counter/-/", "", "Accept", "text/html")
		version = w.Header().Get(headerVersion)
		if want := fmt.Sprintf(` data-node="%s" data-version="%s"`, st.Node(), version); w.Header().Get(headerNode) != st.Node() || !strings.Contains(w.Body.String(), want) {
			t.Fatalf("%v, and not %s in %.300s", w.Header(), want, w.Body)
		}
		return version, followed.FindStringSubmatch(w.Body.String())[1]
	}
	next := func(last string) (version, stream string) {
		tap()
		wait.Until(t, "a version after "+last, func() bool { // a view is used for a moment
			version, stream = open()
			return version != last
		})
		return version, stream
	}
	first, _ := open()
	tapped, _ := next(first)
	if _, err := st.BeginIncarnation(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	again, at := next(tapped)
	var versions [3][2]uint64
	for i, text := range []string{first, tapped, again} {
		if _, err := fmt.Sscanf(text, "%d.%d", &versions[i][0], &versions[i][1]); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	before, after := versions[0], versions[1]
	if after[0] != before[0] || after[1] <= before[1] || versions[2][0] != st.Incarnation() || versions[2][0] <= after[0] {
		t.Errorf("before and after a tap, and in the next incarnation: %v", versions)
	}
	base, _ := web.Run(t, s)
	said := web.Open(t, base+strings.ReplaceAll(at, "&amp;", "&"), map[string]string{"Last-Event-ID": "1"}).Until(web.Named("parts"))
	var parts pageParts
	if err := json.Unmarshal([]byte(said[len(said)-1].Data), &parts); err != nil {
		t.Fatal(err)
	}
	if parts.Node != st.Node() || parts.Version != again {
		t.Errorf("parts of %s, version %s, want %s", parts.Node, parts.Version, again)
	}
}
