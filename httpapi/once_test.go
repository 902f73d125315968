package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/storetest"
)

// A repeated request gets the first one's answer and record, and writes nothing. Different content under the same key is refused, as is
// an invalid key.
func TestIdempotencyKey(t *testing.T) {
	settled := true
	s := keeping(t, func(ctx context.Context) (uint64, error) {
		if settled {
			return 0, nil
		}
		<-ctx.Done()
		return 0, ctx.Err()
	})
	post := func(body string, headers ...string) *httptest.ResponseRecorder {
		return web.Ask(s.Handler(), "POST", "/counter/counts/c9", body, headers...)
	}
	before := s.cfg.Store.Seq()
	first := post(`{"by":2}`, "Idempotency-Key", " k1 ")
	written := s.cfg.Store.Seq()
	if first.Code != 201 || written-before != 2 || first.Header().Get(headerCloud) != cloudWaiting || first.Header().Get(headerNode) != s.cfg.Store.Node() {
		t.Fatalf("%d after %d records: %v", first.Code, written-before, first.Header())
	}
	for _, tt := range []struct {
		name, body, key, prefer string
		settled                 bool
		status                  int
		code, cloud             string
	}{
		{name: "again", body: `{"by":2}`, key: "k1", status: 201, cloud: cloudWaiting},
		{name: "again, asking", body: ` { "by" : 2 } `, key: "k1", prefer: "wait=0", status: 202, cloud: cloudWaiting},
		{name: "again, confirmed", body: `{"by":2}`, key: "k1", prefer: "wait=0", settled: true, status: 201, cloud: cloudConfirmed},
		{name: "another body", body: `{"by":3}`, key: "k1", status: 409, code: "idempotency_conflict"},
		{name: "empty", body: `{"by":2}`, key: " ", status: 400, code: "validation"},
		{name: "long", body: `{"by":2}`, key: strings.Repeat("x", 129), status: 400, code: "validation"},
		{name: "not printable", body: `{"by":2}`, key: "ключ", status: 400, code: "validation"},
	} {
		settled = tt.settled
		w := post(tt.body, "Idempotency-Key", tt.key, "Prefer", tt.prefer)
		if w.Code != tt.status || web.Code(w) != tt.code || w.Header().Get(headerCloud) != tt.cloud {
			t.Errorf("%s: %d %s, cloud %q", tt.name, w.Code, w.Body, w.Header().Get(headerCloud))
		}
		if tt.code == "" && (w.Body.String() != first.Body.String() || w.Header().Get(headerSeq) != strconv.FormatUint(before+1, 10)) {
			t.Errorf("%s: %s after record %s", tt.name, w.Body, w.Header().Get(headerSeq))
		}
	}
	if now := s.cfg.Store.Seq(); now != written {
		t.Errorf("%d records more", now-written)
	}
	if w := post(`{"by":2}`, "Idempotency-Key", "k1", "Idempotency-Key", "k2"); w.Code != 400 {
		t.Errorf("two keys: %d", w.Code)
	}
}

// A row that came from the cloud belongs to a write that the cloud has.
func TestIdempotencyKeyOfAnotherNode(t *testing.T) {
	s := keeping(t, func(context.Context) (uint64, error) { panic("there is nothing to wait for") })
	post := func() *httptest.ResponseRecorder {
		return web.Ask(s.Handler(), "POST", "/counter/counts/c9", `{"by":2}`, "Idempotency-Key", "k1")
	}
	post()
	err := s.cfg.Store.Update(t.Context(), func(tx *store.Tx) error {
		key := attr.Item{"id": attr.S("once#u0 POST /counter/counts/c9#k1")}
		item, err := tx.Get("counter-counts", key)
		if err != nil {
			return err
		}
		item["node"] = attr.S("another")
		_, err = tx.Put(store.PutItem{Table: "counter-counts", Item: item})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if w := post(); w.Code != 201 || w.Header().Get(headerCloud) != cloudConfirmed || w.Header().Get(headerSeq) != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// If a write is refused because another node has answered the request, its answer is fetched. A refusal for another reason stays.
func TestWriteOnceOfAnotherNode(t *testing.T) {
	cfg, f := config(t)
	app := f.app(t, "/counter")
	for _, tt := range []struct {
		name, key string
		status    int
		offline   bool
		want      int
		body      string
		fetched   int
	}{
		{"answered there", "k1", 201, false, 201, `"t1"`, 1},
		{"deleted there", "k2", 204, false, 204, "", 1},
		{"there, but out of reach", "k3", 201, true, 409, "taken", 1},
		{"without a key", "", 201, false, 409, "taken", 0},
	} {
		fetched := 0
		var row *idempotency.Row
		cfg.ReadCloud = func(ctx context.Context, _ string, key attr.Item) error {
			if fetched++; tt.offline || !key["id"].Equal(row.Key["id"]) {
				return errors.New("offline")
			}
			return f.store.Update(ctx, func(tx *store.Tx) error {
				theirs := *row
				theirs.Node = "another"
				return theirs.Write(tx, idempotency.Outcome{Status: tt.status, IDs: map[string]string{"thing": "t1"}})
			})
		}
		app.Routes = append(app.Routes, Route{Method: "POST", Path: "/things" + tt.key, Access: User, Handle: func(r *Request) (Response, error) {
			var err error
			if row, err = f.once(r.gin, "u0", ""); err != nil {
				return Response{}, err
			}
			return r.WriteOnce(row, func(*store.Tx) (out idempotency.Outcome, writes []store.WriteItem, err error) {
				return out, nil, fault.New(fault.Conflict, "taken", "There is such a thing.")
			}, func(_ *store.Tx, ids map[string]string) (any, error) { return ids["thing"], nil })
		}})
		cfg.Apps = []App{app}
		var headers []string
		if tt.key != "" {
			headers = []string{"Idempotency-Key", tt.key}
		}
		w := web.Ask(newServer(t, cfg).Handler(), "POST", "/counter/things"+tt.key, "", headers...)
		if w.Code != tt.want || !strings.Contains(w.Body.String(), tt.body) || tt.body == "" && w.Body.Len() > 0 || fetched != tt.fetched {
			t.Errorf("%s: %d %s, fetched %d times", tt.name, w.Code, w.Body, fetched)
		}
	}
}

// On a node without a cloud its own commit is final.
func TestWrittenWithoutACloud(t *testing.T) {
	cfg, _ := config(t)
	s := newServer(t, cfg)
	if w := web.Ask(s.Handler(), "POST", "/counter/counts/c9", `{"by":2}`, "Prefer", "wait=0"); w.Code != 201 || w.Header().Get(headerCloud) != cloudNone {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestOccurredAgo(t *testing.T) {
	synctest.Test(t, testOccurredAgo) // where a request takes no time
}

func testOccurredAgo(t *testing.T) {
	now := time.Date(2026, 7, 4, 15, 0, 0, 0, time.UTC)
	cfg, f := configIn(t, storetest.OpenWith(t, t.TempDir()+"/s.db", store.Options{NoSync: true, Now: func() time.Time { return now }}))
	s := newServer(t, cfg)
	for i, tt := range []struct {
		ago  string
		want any // seconds before now, or an error code
		sure string
	}{
		{ago: "", want: 0}, {ago: "0", want: 0}, {ago: "90.4", want: 91}, {ago: "43200", want: 43200}, {ago: "-0.5", want: 0}, {ago: "-120", want: 0},
		{ago: "43201", want: "occurred_at"}, {ago: "-121", want: "occurred_at"}, {ago: "1e300", want: "occurred_at"},
		{ago: "NaN", want: "validation"}, {ago: "Inf", want: "validation"}, {ago: "soon", want: "validation"}, {ago: "12h", want: "validation"},
		{ago: "43201", want: 43201, sure: "1"}, {ago: "-3600", want: 0, sure: "1"}, {ago: "2592000", want: 2592000, sure: "1"},
		{ago: "2592001", want: "occurred_at", sure: "1"}, {ago: "10", want: "validation", sure: "yes"},
	} {
		id := fmt.Sprint("c", i)
		w := web.Ask(s.Handler(), "POST", "/counter/counts/"+id, `{"by":1}`, headerOccurred, tt.ago, headerSure, tt.sure)
		if code, ok := tt.want.(string); ok {
			if web.Code(w) != code {
				t.Errorf("%q: %d %s, want %s", tt.ago, w.Code, w.Body, code)
			}
			continue
		}
		err := cfg.Store.View(t.Context(), func(tx *store.Tx) error {
			item, err := tx.Get(f.table(), attr.Item{"id": attr.S(id)})
			if at, _ := item["at"].Int(); now.Unix()-at != int64(tt.want.(int)) {
				t.Errorf("%q: %d s before, want %v: %d %s", tt.ago, now.Unix()-at, tt.want, w.Code, w.Body)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A client can ask what became of its write; a node that did not accept it says so.
func TestWritten(t *testing.T) {
	var refused uint64
	waits := false
	s := keeping(t, func(ctx context.Context) (uint64, error) {
		if waits {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return refused, nil
	})
	web.Ask(s.Handler(), "POST", "/counter/counts/c9", `{"by":2}`)
	node, last := s.cfg.Store.Node(), s.cfg.Store.Seq()
	ask := func(node, seq string) string {
		w := web.Ask(s.Handler(), "GET", "/_/writes/"+node+"/"+seq, "")
		if w.Header().Get(headerNode) != s.cfg.Store.Node() {
			t.Errorf("%s/%s: answered by %q", node, seq, w.Header().Get(headerNode))
		}
		return fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String()))
	}
	seq := strconv.FormatUint(last, 10)
	if got := ask(node, seq); got != `200 {"cloud":"confirmed"}` {
		t.Error(got)
	}
	for _, of := range [][2]string{{"another", seq}, {node, strconv.FormatUint(last+1, 10)}, {node, "0"}, {node, "x"}} {
		if got := ask(of[0], of[1]); !strings.HasPrefix(got, "404 ") || !strings.Contains(got, "unknown_write") {
			t.Errorf("%v: %s", of, got)
		}
	}
	refused = 7
	if got := ask(node, seq); !strings.HasPrefix(got, "409 ") || !strings.Contains(got, "refused_by_cloud") {
		t.Error(got)
	}
	refused = 0
	if _, err := s.cfg.Store.BeginIncarnation(t.Context(), s.cfg.Store.Incarnation()+1); err != nil {
		t.Fatal(err)
	}
	if got := ask(node, seq); !strings.HasPrefix(got, "404 ") {
		t.Errorf("a write of an earlier life: %s", got)
	}
	waits = true // after a crash, clients would send it again and again
	if got := ask(node, seq); got != `202 {"cloud":"waiting"}` {
		t.Errorf("a write of an earlier life that waits: %s", got)
	}
}

// The answers to entries with a key name the node's life, as /livez does, which changes when the node leaves its history. A device's count of
// its entries is kept with the entry, and the device alone is told of it.
func TestEntriesAreKeptAndCounted(t *testing.T) {
	cfg, _ := newTaps(t, storetest.Open(t, handover.Tables()...), "v1")
	cfg.Devices = true
	s := newServer(t, cfg)
	phone := handover.NewDevice()
	from := func(device, method, path, body string, headers ...string) *httptest.ResponseRecorder {
		return web.Ask(s.Handler(), method, path, body, append(headers, "Cookie", deviceCookie+"="+device, "Sec-Fetch-Site", "same-origin")...)
	}
	w := from(phone, "POST", "/counter/taps", `{"by":2}`, "Idempotency-Key", "k1", headerEntries, "7 4 store-1")
	life := w.Header().Get(headerLife)
	if w.Code != 201 || life == "" || life != from(phone, "GET", "/livez", "").Header().Get(headerLife) {
		t.Fatalf("%d %s, life %q", w.Code, w.Body, life)
	}
	if got := from(phone, "POST", "/counter/taps", `{"by":2}`).Header().Get(headerLife); got != "" {
		t.Errorf("an entry without a key: life %q", got)
	}
	from(phone, "POST", "/counter/taps", `{"by":9}`, "Idempotency-Key", "k2", headerEntries, "9 9 store-2") // refused: nothing is committed
	heard := from(phone, "GET", "/counter/-/heard", "").Body.String()
	if !strings.HasPrefix(heard, `{"store":"store-1","made":7,"waiting":4,"at":`) {
		t.Errorf("heard %s", heard)
	}
	if w := from(handover.NewDevice(), "GET", "/counter/-/heard", ""); w.Code != 204 {
		t.Errorf("another device: %d %s", w.Code, w.Body)
	}
	if _, err := s.cfg.Store.BeginIncarnation(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if now := from(phone, "GET", "/livez", "").Header().Get(headerLife); now == life || now == "" {
		t.Errorf("after a restore: life %q", now)
	}
}

// slowBody is a body that takes a while to arrive.
type slowBody struct {
	io.Reader
	ctx   context.Context
	takes time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	err := clock.Sleep(b.ctx, clock.Real(), b.takes)
	if b.takes = 0; err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

// The time of a tap counts back from when its request was sent, as far as its page knows that, if the request was not under way for longer than
// a page waits.
func TestTimeOfATapIsFromItsSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, f := newTaps(t, storetest.Open(t), "one")
		s := newServer(t, cfg)
		now := time.Now()
		for i, tt := range []struct {
			sent string
			want time.Duration // before now; 0: it is refused
		}{
			{"", 2 * time.Second},
			{fmt.Sprint(now.Add(-400 * time.Millisecond).UnixMilli()), 2400 * time.Millisecond},
			{fmt.Sprint(now.Add(-10 * time.Second).UnixMilli()), 12 * time.Second},
			{fmt.Sprint(now.Add(-11 * time.Second).UnixMilli()), 2 * time.Second},
			{fmt.Sprint(now.Add(time.Hour).UnixMilli()), 2 * time.Second},
			{"soon", 0},
		} {
			w := web.Ask(s.Handler(), "POST", "/counter/taps", `{"by":1}`, "Authorization", "Bearer u1", "Idempotency-Key", fmt.Sprint("k", i),
				headerOccurred, "2", headerSent, tt.sent)
			if tt.want == 0 {
				if web.Code(w) != "validation" {
					t.Errorf("%q: %d %s", tt.sent, w.Code, w.Body)
				}
				continue
			}
			all, err := f.all(t.Context())
			if w.Code != http.StatusCreated || err != nil {
				t.Fatalf("%q: %d %s, %v", tt.sent, w.Code, w.Body, err)
			}
			at, err := time.Parse(time.RFC3339Nano, all[len(all)-1].At)
			if err != nil || now.Sub(at).Round(10*time.Millisecond) != tt.want {
				t.Errorf("%q: tapped %v before, want %v: %v", tt.sent, now.Sub(at), tt.want, err)
			}
		}
		w := web.Ask(s.Handler(), "GET", "/livez", "")
		if w.Header().Get(headerNow) != fmt.Sprint(now.UnixMilli()) {
			t.Errorf("the node's time is %v, want %d", w.Header(), now.UnixMilli())
		}
	})
}

// The time of a tap counts back from the request's arrival, however long the request then waits.
func TestTimeOfATapIsFromItsArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, f := newTaps(t, storetest.Open(t), "one")
		s := newServer(t, cfg)
		arrived := time.Now()
		req := httptest.NewRequest(http.MethodPost, "/counter/taps", &slowBody{strings.NewReader(`{"by":1}`), t.Context(), 3 * time.Second})
		req.Header.Set("Authorization", "Bearer u1")
		req.Header.Set("Idempotency-Key", "k1")
		req.Header.Set(headerOccurred, "2")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		all, err := f.all(t.Context())
		if w.Code != http.StatusCreated || err != nil || len(all) != 1 {
			t.Fatalf("%d %s: %v, %v", w.Code, w.Body, all, err)
		}
		at, err := time.Parse(time.RFC3339Nano, all[0].At)
		if err != nil || arrived.Sub(at).Round(time.Second) != 2*time.Second {
			t.Errorf("tapped %v before the request arrived: %v", arrived.Sub(at), err)
		}
	})
}
