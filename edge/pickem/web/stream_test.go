package web

import (
	"testing"

	"github.com/touchline/touchline/internal/testrig/web"
)

// A stream begins with an event of each kind that names nothing, and goes on with each change: a reader who fetches at each one misses nothing.
func TestStream(t *testing.T) {
	r := newRig(t)
	r.card()
	base, _ := web.Run(t, r.server)
	s := web.Open(t, base+"/pickem/app/stream", map[string]string{"Authorization": "Bearer sam"})
	if s.Resp.StatusCode != 200 {
		t.Fatal(s.Resp.Status)
	}
	for _, kind := range []string{"event", "standings"} {
		if seen := s.Until(web.Named(kind)); seen[len(seen)-1].Data != "{}" {
			t.Errorf("it begins with %v", seen)
		}
	}
	r.want(200, "", "admin", "PATCH", "/admin/events/"+event, `{"name":"Revolution"}`)
	if seen := s.Until(web.Named("event")); seen[len(seen)-1].Data != `{"id":"`+event+`"}` {
		t.Errorf("a changed event: %v", seen)
	}
}
