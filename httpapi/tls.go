package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/rebind"
)

// TLS configures HTTPS. The port also accepts plain HTTP: it serves local requests and redirects all others.
type TLS struct {
	Source certs.Source // renewed by Run
	CA     *certs.CA    // the node's own, offered for installation at /_/tls; nil: devices trust the certificate already
	HSTS   bool         // tell browsers to use HTTPS only: they then refuse any certificate that they do not trust
	Plain  net.Listener // second port, which redirects to HTTPS; nil: none
}

// Close closes the second port of a server that was never run.
func (t *TLS) Close() {
	if t != nil && t.Plain != nil {
		_ = t.Plain.Close()
	}
}

// plainConnections is how many connections may be open at once on the second port.
const plainConnections = 256

// hsts tells browsers to use HTTPS for half a year.
const hsts = "max-age=15768000"

// listen adds TLS to the server's port, and starts the certificate renewal and the second port until ctx ends.
func (s *Server) listen(ctx context.Context, srv *http.Server, ln net.Listener, run func(func())) net.Listener {
	t := s.cfg.TLS
	if t == nil {
		return ln
	}
	srv.TLSConfig = certs.Config(t.Source)
	run(func() { _ = t.Source.Run(ctx) }) // returns only when ctx ends
	if t.Plain != nil {
		plain := NewHTTPServer(s.atPort(t.Plain), s.log)
		guarded := connlimit.New(connlimit.Config{Port: "plain", Most: plainConnections, Log: s.log}).Guard(plain, t.Plain)
		run(func() { _ = plain.Serve(guarded) }) // returns when closed
		context.AfterFunc(ctx, func() { _ = plain.Close() })
	}
	return certs.Listen(ln, srv.TLSConfig)
}

// atPort returns the handler of a port. On loopback it accepts only requests for this machine's names.
func (s *Server) atPort(ln net.Listener) http.Handler {
	var public []string
	if _, host, ok := strings.Cut(s.cfg.PublicURL, "://"); ok {
		public = []string{rebind.NameOf(host)}
	}
	return rebind.Guard(ln, s.byHTTPS(s.handler), s.elsewhere, public...)
}

// byHTTPS redirects plain HTTP to HTTPS, except for local requests, monitoring, and what a device needs before it trusts the node.
func (s *Server) byHTTPS(h http.Handler) http.Handler {
	t := s.cfg.TLS
	if t == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && t.HSTS {
			w.Header().Set("Strict-Transport-Security", hsts)
		}
		limits := s.limits.Load()
		if r.TLS != nil || limits.proxies.https(r) || limits.proxies.client(r).IsLoopback() || openToPlain(r.URL.Path) {
			h.ServeHTTP(w, r)
			return
		}
		if to := s.secureAddress(r); to != "" {
			http.Redirect(w, r, to, http.StatusPermanentRedirect)
			return
		}
		s.answerMisdirected(w, r, "This node answers over HTTPS, under the names in its certificate.")
	})
}

// openToPlain reports whether a path is answered without TLS.
func openToPlain(path string) bool {
	return path == "/livez" || path == "/readyz" || path == pathCA || strings.HasPrefix(path, pathCA+"/") || strings.HasPrefix(path, "/_/assets/")
}

// secureAddress returns the https URL of a request: under the requested name if the certificate covers it, otherwise at
// http.public_url. Empty: neither works, and redirecting to another host's name would lead nowhere.
func (s *Server) secureAddress(r *http.Request) string {
	to := url.URL{Scheme: "https", Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	state, host := s.cfg.TLS.Source.State(), rebind.NameOf(r.Host)
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	public, secure := strings.CutPrefix(s.cfg.PublicURL, "https://")
	switch covered := state.Covers(host); {
	case covered && at != nil && portOf(at.String()) == s.port:
		to.Host = r.Host // with the port that the client used, which may have been mapped on the way
	case covered:
		to.Host = net.JoinHostPort(host, s.port)
	case secure:
		to.Host = public
	default:
		return ""
	}
	return to.String()
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// lanAddress returns where devices in the local network reach the node by plain HTTP: the requested name, or for this machine's own
// browser an IP address.
func (s *Server) lanAddress(r *http.Request) string {
	host, state := rebind.NameOf(r.Host), s.cfg.TLS.Source.State()
	if state.Covers(host) && !rebind.Loopback(host) {
		return net.JoinHostPort(host, s.port)
	}
	for _, name := range state.Names {
		if addr, err := netip.ParseAddr(name); err == nil && addr.Is4() && !addr.IsLoopback() {
			host = name
			break
		}
	}
	return net.JoinHostPort(host, s.port)
}
