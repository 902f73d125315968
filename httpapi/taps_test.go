package httpapi

import (
	"context"
	"fmt"
	"net/http"
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
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
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
