package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
)

// getLive answers as long as the process can answer at all.
func (s *Server) getLive(c *gin.Context) error {
	c.Header("Cache-Control", "no-store")
	c.Header(headerNode, serverOf(c).cfg.Store.Node())
	c.Header(headerLife, s.life())
	c.Header(headerNow, strconv.FormatInt(s.cfg.Clock.Wall().UnixMilli(), 10))
	c.String(http.StatusOK, "ok\n")
	return nil
}

// getReady reports whether clients should be sent to this node. A node without its cloud is ready: it serves what it has.
func (s *Server) getReady(c *gin.Context) error {
	var failed []string
	var lines strings.Builder
	for _, check := range s.checks(c.Request.Context()) {
		if check.Err == nil && check.Warning != "" {
			fmt.Fprintf(&lines, "[!] %s: %s\n", check.Name, check.Warning)
			continue
		}
		if check.Err == nil {
			fmt.Fprintf(&lines, "[+] %s ok\n", check.Name)
			continue
		}
		failed = append(failed, check.Name)
		fmt.Fprintf(&lines, "[-] %s: %v\n", check.Name, check.Err)
	}
	_, verbose := c.GetQuery("verbose")
	status, word := http.StatusOK, "ready\n"
	if len(failed) > 0 {
		if !verbose {
			return notReady(failed)
		}
		status, word = http.StatusServiceUnavailable, "not ready\n"
	}
	c.Header("Cache-Control", "no-store")
	if verbose {
		word = lines.String() + word
	}
	c.String(status, word)
	return nil
}

// checks returns the readiness checks of the node and its applications, and fails one at shutdown.
func (s *Server) checks(ctx context.Context) []operator.Check {
	checks := s.cfg.Ready(ctx)
	if s.cfg.TLS != nil {
		state := s.cfg.TLS.Source.State()
		warning, err := state.Check(s.wall.Wall())
		checks = append(checks, operator.Check{Name: "certificate", Err: err, Warning: warning})
	}
	for _, m := range s.apps {
		if m.Ready == nil {
			continue
		}
		for _, check := range m.Ready(ctx) {
			check.App = m.Name
			checks = append(checks, check)
		}
	}
	if s.draining.Err() != nil {
		checks = append(checks, operator.Check{Name: "running", Err: fault.New(fault.Unavailable, "draining", "shutting down")})
	}
	return checks
}

// checkReady returns an error while the node is not ready.
func (s *Server) checkReady(ctx context.Context) error {
	for _, check := range s.checks(ctx) {
		if check.Err != nil {
			return notReady([]string{check.Name})
		}
	}
	return nil
}

func notReady(failed []string) error {
	return fault.New(fault.Unavailable, "not_ready", "not ready: %s", strings.Join(failed, ", "))
}

// nodeStatus returns the node's status with the fields that only httpapi knows.
func (s *Server) nodeStatus() operator.NodeStatus {
	n := s.cfg.Node()
	n.Streams = s.events.Count()
	if t := s.cfg.TLS; t != nil {
		state := t.Source.State()
		n.Certificate = &state
	}
	return n
}

// getStatus answers with the node's status and the fields that its applications add.
func (s *Server) getStatus(c *gin.Context) error {
	node := s.nodeStatus()
	out := map[string]json.RawMessage{}
	own, err := json.Marshal(node)
	if err == nil {
		err = json.Unmarshal(own, &out)
	}
	if err != nil {
		return fmt.Errorf("encode status: %w", err)
	}
	for _, m := range s.apps {
		if m.Status == nil {
			continue
		}
		for name, v := range m.Status(&node) {
			if _, taken := out[name]; taken {
				name = m.Name + "." + name
			}
			if out[name], err = json.Marshal(v); err != nil {
				return fmt.Errorf("encode status: %w", err)
			}
		}
	}
	return Answer(c, http.StatusOK, out, nil)
}

func (s *Server) getMetrics(c *gin.Context) error {
	s.scrape.ServeHTTP(c.Writer, c.Request)
	return nil
}

// scraper answers with the metrics of a registry.
func scraper(reg *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		Registry: reg, DisableCompression: true, // the server compresses all answers already
	})
}
