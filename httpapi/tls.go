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

// TLS configures HTTPS. Its port accepts plain HTTP too: it serves requests from this machine and redirects all others.
type TLS struct {
	Source certs.Source // Run keeps it
	CA     *certs.CA    // the node's own, for the page that hands it out; nil: devices trust the certificate as it is
	HSTS   bool         // browsers are told to come by HTTPS only: there is no way back from a certificate that they do not trust
	Plain  net.Listener // a second port, which sends browsers on; nil: none
}

// Close lets the second port go of a server that was never run.
func (t *TLS) Close() {
	if t != nil && t.Plain != nil {
		_ = t.Plain.Close()
	}
}

// plainConnections may be open at once on the second port.
const plainConnections = 256

// hsts has browsers come by HTTPS for half a year.
const hsts = "max-age=15768000"

// listen has the port of a server speak TLS, and starts what keeps the certificate and the second port until ctx ends.
func (s *Server) listen(ctx context.Context, srv *http.Server, ln net.Listener, run func(func())) net.Listener {
	t := s.cfg.TLS
	if t == nil {
		return ln
	}
	srv.TLSConfig = certs.Config(t.Source)
	run(func() { _ = t.Source.Run(ctx) }) // ends with its context only
	if t.Plain != nil {
		plain := NewHTTPServer(s.atPort(t.Plain), s.log)
		guarded := connlimit.New(connlimit.Config{Port: "plain", Most: plainConnections, Log: s.log}).Guard(plain, t.Plain)
		run(func() { _ = plain.Serve(guarded) }) // ends when it is closed
		context.AfterFunc(ctx, func() { _ = plain.Close() })
	}
	return certs.Listen(ln, srv.TLSConfig)
}

// atPort is what a port answers: on loopback only requests for this machine's names.
func (s *Server) atPort(ln net.Listener) http.Handler {
	var public []string
	if _, host, ok := strings.Cut(s.cfg.PublicURL, "://"); ok {
		public = []string{rebind.NameOf(host)}
	}
	return rebind.Guard(ln, s.byHTTPS(s.handler), s.elsewhere, public...)
}

// byHTTPS sends browsers that come by plain HTTP on to HTTPS. Requests of this machine stay as they are, and so does what a
// device needs before it trusts the node, or a monitor.
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
		s.misdirected(w, r, "This node answers over HTTPS, under the names in its certificate.")
	})
}

// openToPlain reports whether a path is answered without TLS.
func openToPlain(path string) bool {
	return path == "/livez" || path == "/readyz" || path == pathCA || strings.HasPrefix(path, pathCA+"/") || strings.HasPrefix(path, "/_/assets/")
}

// secureAddress is the same address by HTTPS, under the name that was asked for if the certificate is for it, else at
// http.public_url; empty: neither is so, and another host's name leads nowhere.
func (s *Server) secureAddress(r *http.Request) string {
	to := url.URL{Scheme: "https", Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	state, host := s.cfg.TLS.Source.State(), rebind.NameOf(r.Host)
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	public, secure := strings.CutPrefix(s.cfg.PublicURL, "https://")
	switch covered := state.Covers(host); {
	case covered && at != nil && portOf(at.String()) == s.port:
		to.Host = r.Host // with the client's own port, which something between may have mapped
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

// lanAddress is where a device in the local network reaches the node by plain HTTP: by the name in the request, or from this
// machine's own browser by an address.
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
