package replay

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/fault"
)

const final = "1144530"

func TestStatusCodes(t *testing.T) {
	d := newDesk(t, final)
	tests := []struct {
		target string
		status int
		body   string
	}{
		{"/livescores", 401, `{"message":"Unauthenticated."}`},
		{"/livescores?api_token=guess", 401, `{"message":"Unauthenticated."}`},
		{"/livescores?api_token=", 401, `{"message":"Unauthenticated."}`},
		{"/nonsense", 401, `{"message":"Unauthenticated."}`},
		{"/nonsense?api_token=secret", 404, `{"message":"Not Found."}`},
		{"/fixtures/1?api_token=secret", 404, `{"message":"No query results for model [Fixture]."}`},
		{"/fixtures?api_token=secret&page=none", 400, `{"message":"The page must be a number from 1."}`},
		{"/fixtures?api_token=secret&filter[starts_between]=today", 400, `{"message":"starts_between takes two dates"}`},
		{"/livescores?api_token=secret", 200, `{"data":[]}`},
	}
	for _, tt := range tests {
		w := d.get(d.m.Start(), tt.target)
		if w.Code != tt.status || w.Body.String() != tt.body {
			t.Errorf("%s: %d %s", tt.target, w.Code, w.Body)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: content type %q", tt.target, got)
		}
		if got := w.Header().Get("Date"); got != "Sun, 14 Jul 2019 09:59:00 GMT" {
			t.Errorf("%s: date %q", tt.target, got)
		}
	}
}

// A match is in /livescores from its first ball until some minutes after it finished.
func TestLivescores(t *testing.T) {
	d := newDesk(t, final)
	first, end := d.m.balls[0].at, d.m.End()
	for _, tt := range []struct {
		name   string
		at     time.Time
		listed bool
	}{
		{"long before", first.AddDate(0, 0, -3), false},
		{"toss", first.Add(-time.Minute), false},
		{"a nanosecond before the first ball", first.Add(-1), false},
		{"first ball", first, true},
		{"finished", end, true},
		{"five minutes later", end.Add(5 * time.Minute), true},
		{"ten minutes later", end.Add(leaveAfter), false},
		{"years later", end.AddDate(3, 0, 0), false},
	} {
		var env struct{ Data []*seenFixture }
		d.decode(d.get(tt.at, "/livescores?api_token=secret").Body.Bytes(), &env)
		if got := len(env.Data) == 1; got != tt.listed {
			t.Errorf("%s: listed %t", tt.name, got)
		}
	}
}

// Only the requested parts are sent; unknown names are ignored.
func TestInclude(t *testing.T) {
	d := newDesk(t, final)
	at := d.m.balls[100].at
	for include, want := range map[string]string{
		"":                       "",
		"runs":                   "runs",
		"balls":                  "balls",
		" runs , balls,nonsense": "balls runs",
		"tosswon,league":         "league tosswon",
		"batting.batsman":        "",
	} {
		var env struct{ Data map[string]json.RawMessage }
		d.decode(d.get(at, "/fixtures/"+final+"?api_token=secret&include="+strings.ReplaceAll(include, " ", "%20")).
			Body.Bytes(), &env)
		var got []string
		for _, part := range []string{"balls", "batting", "bowling", "league", "lineup", "runs", "tosswon"} {
			if env.Data[part] != nil {
				got = append(got, part)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", include, diff)
		}
	}
}

func TestNotModified(t *testing.T) {
	d := newDesk(t, final)
	ball := d.m.balls[9]
	target := "/livescores?api_token=secret&include=" + allIncludes
	first := d.get(ball.at, target)
	tag := first.Header().Get("ETag")
	if !strings.HasPrefix(tag, `"`) || first.Code != 200 {
		t.Fatalf("%d, etag %q", first.Code, tag)
	}
	again := d.get(ball.at.Add(30*time.Second), target, "If-None-Match", `"other", `+tag)
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
		t.Errorf("the same again: %d with %d bytes", again.Code, again.Body.Len())
	}
	if again.Header().Get("Date") == first.Header().Get("Date") {
		t.Error("the Date header did not change")
	}
	for name, w := range map[string]int{
		"next ball":      d.get(d.m.balls[10].at, target, "If-None-Match", tag).Code,
		"other includes": d.get(ball.at, target[:len(target)-len(",winnerteam")], "If-None-Match", tag).Code,
		"other endpoint": d.get(ball.at, "/fixtures/"+final+"?api_token=secret&include="+allIncludes, "If-None-Match", tag).Code,
	} {
		if w != http.StatusOK {
			t.Errorf("%s: %d", name, w)
		}
	}
	if n := first.Header().Get("Content-Length"); n != strconv.Itoa(first.Body.Len()) {
		t.Errorf("content length %s of %d", n, first.Body.Len())
	}
}

// Over a whole match, answers with the same tag have the same body. In play answers with the same body also have the same
// tag.
func TestTagsIdentifyBodies(t *testing.T) {
	d := newDesk(t, "1369560")
	bodies := map[string]string{}
	tags := map[string]string{}
	for _, mo := range d.m.moments {
		for _, path := range []string{"/livescores", "/fixtures/1369560"} {
			w := d.get(mo.At, path+"?api_token=secret&include="+allIncludes)
			tag, body := w.Header().Get("ETag"), w.Body.String()
			if old, ok := bodies[tag]; ok && old != body {
				t.Errorf("%s at %s: the tag %s has two bodies", path, mo.At, tag)
			}
			if old, ok := tags[body]; ok && old != tag && body != `{"data":[]}` && mo.Live {
				t.Errorf("%s at %s: tags %s and %s for one body", path, mo.At, old, tag)
			}
			bodies[tag], tags[body] = body, tag
		}
	}
}

func TestFixturesList(t *testing.T) {
	d := newDesk(t, final)
	type reply struct {
		Data  []seenFixture
		Links struct{ First, Last, Prev, Next *string }
		Meta  struct {
			Current int `json:"current_page"`
			Last    int `json:"last_page"`
			Total   int
			PerPage int `json:"per_page"`
			From    *int
		}
	}
	for _, tt := range []struct {
		query string
		shown int
		total int
	}{
		{"", 1, 1},
		{"&page=1", 1, 1},
		{"&page=2", 0, 1},
		{"&filter[starts_between]=2019-07-14,2019-07-14", 1, 1},
		{"&filter[starts_between]=2019-07-01,2019-07-13", 0, 0},
		{"&filter[starts_between]=2019-07-15,2019-07-30", 0, 0},
		{"&filter[starts_between]=2019-07-14T10:00:00Z,2019-07-14T12:00:00Z", 1, 1},
		{"&filter[starts_between]=2019-07-14T10:00:01Z,2019-07-14T12:00:00Z", 0, 0},
		{"&filter[starts_between]=2019-07-14%2009:00:00,2019-07-14%2009:59:59", 0, 0},
	} {
		var r reply
		d.decode(d.get(d.m.Start(), "/fixtures?api_token=secret"+tt.query).Body.Bytes(), &r)
		if len(r.Data) != tt.shown || r.Meta.Total != tt.total || r.Meta.Last != 1 || r.Links.Next != nil {
			t.Errorf("%q: %d shown, %+v, %+v", tt.query, len(r.Data), r.Meta, r.Links)
		}
		if r.Meta.PerPage == 0 || (r.Meta.From != nil) != (tt.shown > 0) {
			t.Errorf("%q: %+v", tt.query, r.Meta)
		}
	}
}

// The catalogue has every score that a ball of any match refers to, with the same fields.
func TestScoresCatalogue(t *testing.T) {
	d := newDesk(t, final)
	var env struct{ Data []seenScore }
	d.decode(d.get(d.m.Start(), "/scores?api_token=secret").Body.Bytes(), &env)
	byID := map[int64]seenScore{}
	for _, s := range env.Data {
		if _, twice := byID[s.ID]; twice || s.ID == 0 {
			t.Errorf("id %d: %s and %s", s.ID, byID[s.ID].Name, s.Name)
		}
		byID[s.ID] = s
	}
	if byID[scoreNotOut].Name != "Not Out" || byID[54].Name != "Catch Out" {
		t.Errorf("known ids: %+v, %+v", byID[scoreNotOut], byID[54])
	}
	for _, in := range List() {
		m := mustLoad(t, in.ID)
		for i := range m.balls {
			s := scoreOf(m.balls[i].d)
			c, ok := byID[s.id]
			want := seenScore{s.id, s.name, s.runs, s.four, s.six, s.bye, s.legBye, s.noBall, s.noBallRuns, s.wicket, s.ball, s.isOut}
			if !ok || c != want {
				t.Fatalf("%s %s: %+v, the catalogue has %+v", in.ID, m.balls[i].label, want, c)
			}
		}
	}
}

func TestLoadUnknown(t *testing.T) {
	for _, id := range []string{"", "1", "../matches/1144530", "1144530.match"} {
		if _, err := Load(id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}
