package node_test

import (
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A given-up message is shown on the Status page, in the status, the metrics and readiness; the node stays ready.
func TestMailGivenUpIsTold(t *testing.T) {
	c := mail.Defaults()
	c.Mode, c.Dir, c.From = "files", filepath.Join(t.TempDir(), "mail"), "scores@example.org"
	n, err := node.Open(t.Context(), t.TempDir(), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Mail: c, Auth: keyed})
	if err != nil {
		t.Fatal(err)
	}
	late := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339Nano)
	if err := n.Store().Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: mail.Table, Item: attr.Item{
			"id": attr.S("1"), "to": attr.S("player@example.net"), "queued": attr.S(late), "next": attr.S(late), "until": attr.S(late),
		}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	addr, end := runNode(t, n)
	defer end()
	get := func(path string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", operatorKey)
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
	for path, want := range map[string]string{
		"/statusz":        `"givenUp":1`,
		"/metrics":        "\ntouchline_mail_attempts_total{outcome=\"given_up\"} 1\n",
		"/readyz?verbose": "[!] mail: 1 message could not be sent",
		"/_/hub":          "This node&#39;s mail: 1 message could not be sent",
		"/_/api/hub":      "it has expired",
		"/_/hub?":         "0 messages to send, 1 given up in 24 hours",
	} {
		web.Eventually(t, path+" tells", func() bool { return strings.Contains(get(path), want) })
	}
	if all := get("/statusz") + get("/_/hub"); strings.Contains(all, "player@") {
		t.Error("the address is told")
	}
}
