package web

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/testrig/web"
)

var streamAttr = regexp.MustCompile(`data-stream="([^"]*)"`)

// pageAddress loads a page and returns the address of its stream.
func pageAddress(t *testing.T, url string) string {
	t.Helper()
	return streamOf(t, load(t, url, nil))
}

func streamOf(t *testing.T, body string) string {
	t.Helper()
	m := streamAttr.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no stream in the page: %.300s", body)
	}
	return html.UnescapeString(m[1])
}

func load(t *testing.T, url string, header map[string]string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := web.Client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func partsOf(t *testing.T, m web.Message) (ids []string, title string) {
	t.Helper()
	var p struct {
		Title string
		Parts []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(m.Data), &p); err != nil {
		t.Fatal(err)
	}
	for _, part := range p.Parts {
		ids = append(ids, part.ID)
	}
	return ids, p.Title
}

func TestPageStreamSendsWhatChanged(t *testing.T) {
	cfg, f, in := config(t)
	cfg.PageTick = time.Hour // only the journal wakes the stream
	cfg.Auth = web.ByName{Silent: web.Staff()}
	url, _ := start(t, cfg)
	s := web.Open(t, url+pageAddress(t, url+"/"), nil)
	s.Next() // retry
	d := in.Display
	d.Equation = "need 3 from 2"
	f.putDisplay(d)
	ids, title := partsOf(t, s.Until(web.Named("parts"))[0])
	// The phones have not changed. The node strip has, because it counts this stream.
	if diff := cmp.Diff([]string{"score", "node"}, ids); diff != "" {
		t.Error(diff)
	}
	if want := "ENG 233/8 (49.3) · Need 3 from 2 · touchline"; title != want {
		t.Errorf("title %q, want %q", title, want)
	}

	// A page that reconnects has other parts than its address says, so it is sent all parts.
	again := web.Open(t, url+pageAddress(t, url+"/"), map[string]string{"Last-Event-ID": "1"})
	ids, _ = partsOf(t, again.Until(web.Named("parts"))[1])
	if want := []string{"top", "score", "crease", "overs", "worm", "bars", "timeline", "phones", "cards", "node"}; !cmp.Equal(ids, want) {
		t.Errorf("sent %v, want %v", ids, want)
	}
}

// The strip with the node's state is for admins: pages and streams of other users do not have it.
func TestNodeStrip(t *testing.T) {
	cfg, _, in := config(t)
	cfg.PageTick = time.Hour
	url, _ := start(t, cfg)
	for _, path := range []string{"/", "/cricket/-/matches"} {
		for token, want := range map[string]bool{"u1": false, "admin": true} {
			who := map[string]string{"Authorization": "Bearer " + token, "Last-Event-ID": "1"}
			body := load(t, url+path, who)
			if got := strings.Contains(body, `data-part="node"`); got != want {
				t.Errorf("%s for %s has the strip: %t", path, token, got)
			}
			s := web.Open(t, url+streamOf(t, body), who)
			if ids, _ := partsOf(t, s.Until(web.Named("parts"))[1]); slices.Contains(ids, "node") != want {
				t.Errorf("the stream of %s for %s has %v", path, token, ids)
			}
			if !want && strings.Contains(body, in.Node.Lease.Key) {
				t.Errorf("%s shows the lease", path)
			}
		}
	}
}

func TestPageStreamOfTheList(t *testing.T) {
	cfg, f, in := config(t)
	url, _ := start(t, cfg)
	s := web.Open(t, url+pageAddress(t, url+"/cricket/-/matches"), nil)
	s.Next()
	fx := in.Fixture
	fx.MatchID, fx.LeagueName = "2", "Village cup"
	d := in.Display
	d.MatchID = "2"
	f.mu.Lock()
	f.fixtures["2"] = fx
	f.mu.Unlock()
	f.putDisplay(d)
	if m := s.Until(web.Named("parts"))[0]; !strings.Contains(m.Data, "Village cup") {
		t.Errorf("the list did not change: %.300s", m.Data)
	}
}

func TestPageStreamTicksAndEnds(t *testing.T) {
	cfg, f, in := config(t)
	cfg.PageTick = 20 * time.Millisecond
	url, _ := start(t, cfg)
	s := web.Open(t, url+pageAddress(t, url+"/"), nil)
	s.Until(web.Named("tick"))
	f.mu.Lock()
	delete(f.fixtures, finalID)
	f.mu.Unlock()
	f.putEvent(t, finalID, cricket.Event{Key: "x"})
	_ = in
	s.Until(web.Named("gone"))
}

// However often a match changes, a page gets at most four messages a second.
func TestPageStreamIsCoalesced(t *testing.T) {
	cfg, f, in := config(t)
	url, _ := start(t, cfg)
	s := web.Open(t, url+pageAddress(t, url+"/"), nil)
	s.Next()
	d, began := in.Display, time.Now()
	for changes := range 200 { // at the machine's pace: how long it took is measured
		d.Required = changes
		d.Equation = strings.Repeat("x", changes%50+1)
		f.putDisplay(d)
		<-time.After(time.Millisecond)
	}
	d.Equation = "the last word"
	f.putDisplay(d)
	all := s.Until(func(m web.Message) bool { return strings.Contains(m.Data, "The last word") })
	took := time.Since(began)
	if most := int(took/(250*time.Millisecond)) + 2; len(all) > most {
		t.Errorf("%d messages in %v, at most %d are due", len(all), took, most)
	}
}

func TestAssets(t *testing.T) {
	cfg, _, _ := config(t)
	url, _ := start(t, cfg)
	total := 0
	load := func(path string) (body []byte, status int, header http.Header) {
		resp, err := web.Client(t).Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err = io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
		total += len(body)
		return body, resp.StatusCode, resp.Header
	}
	page, _, _ := load("/")
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:href|src)="(/_/assets/[^"]+)"`).FindAllStringSubmatch(string(page), -1) {
		if seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		_, status, header := load(m[1])
		if status != http.StatusOK || !strings.Contains(header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %s", m[1], status, header.Get("Cache-Control"))
		}
	}
	if len(seen) < 4 {
		t.Errorf("the page names only %v", seen)
	}
	if total > 150_000 {
		t.Errorf("a first load is %d bytes before compression, 150,000 at most", total)
	}
	t.Logf("first load: %d bytes before compression", total)
	for _, no := range []string{"<style", " style=", "onclick", "javascript:", "http://", "https://"} {
		if strings.Contains(string(page), no) {
			t.Errorf("the page has %q in it", no)
		}
	}
}
