package node_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// damagedStart runs a node with its data in dir until end is called, and returns what it logs while it starts.
func damagedStart(t *testing.T, dir string) (base, log string, end func()) {
	t.Helper()
	var said strings.Builder
	n, err := node.Open(t.Context(), dir, node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.NewTextHandler(&said, nil)), Apps: []*app.App{(&counter{}).app()}, Auth: keyed,
	})
	if err != nil {
		t.Fatal(err)
	}
	log = said.String()
	addr, end := runNode(t, n)
	return "http://" + addr, log, end
}

// postKeyed sends a form as the operator.
func postKeyed(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", operatorKey)
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw) + errorText(err)
}

// tearFirstPages changes the first of the two meta pages of a closed database, as no single bit would.
func tearFirstPages(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, node.StoreFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		raw[16+56+i] ^= 0xff // the checksum
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A node whose database has a damaged first page starts and says so: in its log, in its state and on the Status page, after restarts too,
// until an admin says that it was read.
func TestDamageIsOnTheStatusPageUntilItIsRead(t *testing.T) {
	dir := t.TempDir()
	_, _, first := damagedStart(t, dir)
	first()
	tearFirstPages(t, dir)
	const words = "One of the two first pages of the database was damaged when it was opened on "
	for range 2 {
		base, log, end := damagedStart(t, dir)
		if !strings.Contains(log, words) {
			t.Errorf("the log: %s", log)
		}
		for _, path := range []string{"/_/hub", "/_/api/hub"} {
			if _, body := ask(t, base+path); !strings.Contains(body, words) || !strings.Contains(body, "nothing is lost") {
				t.Errorf("%s: %s", path, body)
			}
		}
		end()
	}
	s, err := store.Open(filepath.Join(dir, node.StoreFile), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := fmt.Sprintf("/_/damages/%d/read", s.Damages()[0].ID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	base, _, end := damagedStart(t, dir)
	if _, page := ask(t, base+"/_/hub"); !strings.Contains(page, `method="post" action="`+read+`"`) {
		t.Errorf("no button: %s", page)
	}
	for range 2 { // as when two admins press it
		if status, body := postKeyed(t, base+read); status != http.StatusSeeOther {
			t.Errorf("%d %s", status, body)
		}
	}
	if status, body := postKeyed(t, base+"/_/api"+strings.TrimPrefix(read, "/_")); status != http.StatusNotFound {
		t.Errorf("what was read already, by the API: %d %s", status, body)
	}
	if _, page := ask(t, base+"/_/hub"); strings.Contains(page, words) {
		t.Errorf("it is still shown: %s", page)
	}
	end()
	_, log, stop := damagedStart(t, dir)
	if strings.Contains(log, words) {
		t.Errorf("it is told again: %s", log)
	}
	stop()
}
