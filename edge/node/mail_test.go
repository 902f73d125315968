package node_test

import (
	"fmt"
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
	"github.com/touchline/touchline/internal/testrig/wait"
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
		wait.Until(t, path+" tells", func() bool { return strings.Contains(get(path), want) })
	}
	if all := get("/statusz") + get("/_/hub"); strings.Contains(all, "player@") {
		t.Error("the address is told")
	}
}

// When the hour's messages for sign-in are used up, readiness warns, because nobody else can sign in; the node stays ready. Invitations do
// not count against them.
func TestEmptyPotForSignInIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		causes []mail.Cause
		warns  bool
	}{
		"used up":                    {[]mail.Cause{mail.SignIn, mail.SignIn, mail.SignIn}, true},
		"one is left":                {[]mail.Cause{mail.SignIn, mail.SignIn}, false},
		"one is left of invitations": {[]mail.Cause{mail.SignIn, mail.SignIn, mail.ByUser, mail.ByUser}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := mail.Defaults()
			c.Mode, c.Dir, c.From = "files", filepath.Join(t.TempDir(), "mail"), "scores@example.org"
			c.PerHour, c.UsersPerHour = 13, 10 // three for sign-in
			n, err := node.Open(t.Context(), t.TempDir(), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Mail: c, Auth: keyed})
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC()
			put := func(tx *store.Tx, id string, cause mail.Cause, until time.Time, done bool) error {
				at := attr.S(now.Add(-time.Minute).Format(time.RFC3339Nano))
				_, err := tx.Put(store.PutItem{Table: mail.Table, Item: attr.Item{
					"id": attr.S(id), "to": attr.S(id + "@example.net"), "queued": at, "next": at, "until": attr.S(until.Format(time.RFC3339Nano)),
					"cause": attr.S(string(cause)), "done": attr.Bool(done),
				}})
				return err
			}
			if err := n.Store().Update(t.Context(), func(tx *store.Tx) error {
				for i, cause := range tt.causes {
					if err := put(tx, fmt.Sprint(i), cause, now.Add(time.Hour), true); err != nil {
						return err
					}
				}
				return put(tx, "late", mail.ByUser, now.Add(-time.Minute), false) // given up: shows that the outbox has looked
			}); err != nil {
				t.Fatal(err)
			}
			addr, end := runNode(t, n)
			defer end()
			var body string
			wait.Until(t, "the outbox has looked", func() bool {
				status, text := ask(t, "http://"+addr+"/readyz?verbose")
				if status != http.StatusOK {
					t.Fatalf("%d %s", status, text)
				}
				body = text
				return strings.Contains(text, "1 message could not be sent")
			})
			if got := strings.Contains(body, "[!] mail: the hour's messages for sign-in are used up"); got != tt.warns {
				t.Errorf("%s", body)
			}
		})
	}
}
