package rebind

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A loopback listener answers only to loopback names; one that others can reach answers to any name.
func TestGuard(t *testing.T) {
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	there := fakeListener{}
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	refuse := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, Refusal, http.StatusMisdirectedRequest) }
	public := func(host string) int {
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.Host = host
		Guard(here, ok, refuse, "scores.example").ServeHTTP(w, r)
		return w.Code
	}
	if public("Scores.example:443") != http.StatusNoContent || public("evil.com") != http.StatusMisdirectedRequest {
		t.Error("the name under which people reach it, and no other, is its own")
	}
	for host, want := range map[string]int{
		"127.0.0.1:8080": http.StatusNoContent, "localhost": http.StatusNoContent, "LOCALHOST.:80": http.StatusNoContent,
		"[::1]:8080": http.StatusNoContent, "node.localhost:1": http.StatusNoContent, "127.9.9.9": http.StatusNoContent,
		"evil.com": http.StatusMisdirectedRequest, "localhost.evil.com:80": http.StatusMisdirectedRequest,
		"192.168.0.7": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		Guard(here, ok, refuse).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q: %d, want %d", host, w.Code, want)
		}
		w = httptest.NewRecorder()
		Guard(there, ok, refuse).ServeHTTP(w, r)
		if w.Code != http.StatusNoContent {
			t.Errorf("Host %q on a LAN address: %d", host, w.Code)
		}
	}
}

// fakeListener has a LAN address.
type fakeListener struct{ net.Listener }

func (fakeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 168, 0, 7), Port: 8080} }
