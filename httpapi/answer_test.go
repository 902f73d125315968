package httpapi_test

import (
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// A table becomes a file; cells that a spreadsheet would run become text.
func TestCSV(t *testing.T) {
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	if err := httpapi.CSV(c, "table.csv", [][]string{{"=SUM(A1)", "", "1"}, {"-1", "@x", `a,"b"`}}); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); got != "'=SUM(A1),,1\n'-1,'@x,\"a,\"\"b\"\"\"\n" {
		t.Errorf("%q", got)
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="table.csv"` {
		t.Errorf("%q", got)
	}
}

// An answer that is the same for everybody is read, encoded and compressed once for all who ask, until something is committed. Errors are not
// kept, and neither are answers to endless queries.
func TestAnswerPublic(t *testing.T) {
	st := storetest.Open(t, storetest.Balls())
	var reads atomic.Int32
	var fails atomic.Bool
	long := strings.Repeat("long ", 1000)
	list := func(c *gin.Context) error {
		return httpapi.AnswerPublic(c, func(*store.Tx) (string, error) {
			reads.Add(1)
			if fails.Load() {
				return "", fault.New(fault.NotFound, "no_list", "There is no list.")
			}
			return long + c.Query("of"), nil
		})
	}
	s, err := httpapi.New(httpapi.Config{Store: st, Clock: clock.Real(), Auth: web.ByName{}, Apps: []httpapi.App{{
		Name: "lists", Title: "Lists", Mount: "/lists", Routes: []httpapi.Route{{Method: "GET", Path: "/list", Access: httpapi.Public, Do: list}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(query, encoding string) *httptest.ResponseRecorder {
		return web.Ask(s.Handler(), "GET", "/lists/list"+query, "", "Accept-Encoding", encoding)
	}
	want := func(when string, n int32) {
		t.Helper()
		if got := reads.Load(); got != n {
			t.Errorf("%s: read %d times, want %d", when, got, n)
		}
	}
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() { ask("", "gzip") })
	}
	all.Wait()
	want("32 at once", 1)
	plain, packed := ask("", "gzip;q=0"), ask("", "br, GZIP;q=0.5")
	unpacked, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil || string(text) != plain.Body.String() || !strings.Contains(plain.Body.String(), long) {
		t.Errorf("%q, %v", text, err)
	}
	if a, b := plain.Header(), packed.Header(); a.Get("Content-Encoding") != "" || b.Get("Content-Encoding") != "gzip" || a.Get("ETag") == "" || a.Get("ETag") != b.Get("ETag") {
		t.Errorf("%v, %v", a, b)
	}
	want("in two encodings", 1)
	if w := ask("?of=another", ""); !strings.Contains(w.Body.String(), "another") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	want("at another address", 2)
	storetest.Put(t, st, "balls", storetest.Ball("final", 1))
	ask("", "")
	want("after a commit", 3)
	storetest.Put(t, st, "balls", storetest.Ball("final", 2))
	fails.Store(true)
	if w := ask("", ""); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fails.Store(false)
	if w := ask("", ""); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	want("after an error", 5)
	endless := "?of=" + strings.Repeat("x", 300)
	ask(endless, "")
	ask(endless, "")
	want("endless queries", 7)
}
