package pickemapp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Each of the twelve players has a sign-in button. Five events of 2024 are scored, and the next one takes picks until its lock.
func TestDemo(t *testing.T) {
	out, told := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	cmd := node.DemoCommand("demo", "", commands(&app.Shell{}).Demo)
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0"})
	cmd.SetErr(told)
	go func() {
		err := cmd.ExecuteContext(ctx)
		_ = told.CloseWithError(err)
		done <- err
	}()
	defer func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	base := ""
	lines := bufio.NewScanner(out)
	for base == "" && lines.Scan() { // on a busy machine, the node logs more lines before it
		if _, text, ok := strings.Cut(lines.Text(), "Pick'Em: open "); ok {
			base, _, _ = strings.Cut(text, " ")
		}
	}
	if base == "" {
		t.Fatal("the demo does not print its address")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	league := base + "/pickem"

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := web.Client(t)
	client.Jar = jar
	get := func(at string) (body, final string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		raw, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", at, resp.StatusCode, raw, err)
		}
		return string(raw), resp.Request.URL.String()
	}
	login, issuer := get(base + "/_/signin/with/demo")
	if n := strings.Count(login, "<button"); n != 12 {
		t.Fatalf("%d buttons: %s", n, login)
	}
	resp, err := client.PostForm(issuer, url.Values{"user": {"demo-ada"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()

	var list struct {
		Events []struct{ ID, Name, State, Picked string }
	}
	body, _ := get(league + "/app/events")
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Events) != 6 {
		t.Fatalf("%s: %v", body, err)
	}
	if next := list.Events[0]; next.State != "upcoming" || next.Picked != "0 of 11" {
		t.Errorf("the next event: %+v", next)
	}
	for _, e := range list.Events[1:] {
		if e.State != "scored" || !strings.HasPrefix(e.ID, "2024-") {
			t.Errorf("an event of 2024: %+v", e)
		}
	}
	body, _ = get(league + "/app/standings?year=2024")
	if n := strings.Count(body, `"eplayed":5`); n != 12 {
		t.Errorf("%d players have played five events: %s", n, body)
	}
	if body, _ = get(base); !strings.Contains(body, "Rematch of Revolution") || !strings.Contains(body, "Locks in") {
		t.Errorf("the first page: %s", body)
	}
	if body, _ = get(league + "/-/admin"); !strings.Contains(body, "Invited users") {
		t.Errorf("the admin's page: %s", body)
	}
}
