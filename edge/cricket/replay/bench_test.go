package replay

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A whole Test over HTTP, one full reply per change: the requests of a demo at top speed.
func BenchmarkWholeTestOverHTTP(b *testing.B) {
	m := mustLoad(b, longest)
	h := &hand{}
	srv := httptest.NewServer(NewFeed(m, h, "t", 0))
	defer srv.Close()
	url := srv.URL + prefix + "/livescores?api_token=t&include=" + allIncludes
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		var n int64
		for i := range m.moments {
			h.now = m.moments[i].At
			resp, err := srv.Client().Do(req)
			if err != nil {
				b.Fatal(err)
			}
			k, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, resp.Body, buf)
			if err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
			n += k
		}
		b.SetBytes(n)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(m.moments)), "us/reply")
}

// One reply at the end of a Test, without the network.
func BenchmarkReply(b *testing.B) {
	m := mustLoad(b, longest)
	s := newShow(m, 0)
	last := &view{Moment: m.moments[len(m.moments)-2]}
	inc := parseInclude(allIncludes)
	s.render(last, inc)
	b.ReportAllocs()
	for b.Loop() {
		s.render(last, inc)
	}
}

// Every ball of a Test rendered for the first time.
func BenchmarkRenderBalls(b *testing.B) {
	m := mustLoad(b, longest)
	b.ReportAllocs()
	for b.Loop() {
		(&ballPages{m: m}).upto(len(m.balls))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(m.balls)), "ns/ball")
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		mustLoad(b, longest)
	}
}

func BenchmarkList(b *testing.B) {
	for b.Loop() {
		List()
	}
}
