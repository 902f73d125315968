package node_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/migrations"
)

// small returns a demo of an application with one page for signed-in users.
func small(name string) *app.Demo {
	return &app.Demo{
		Users: app.DemoUsers(2),
		App: &app.App{
			Name: name, Title: name, Settings: &counterSettings{Mount: "/" + name},
			Schema: func() migrations.Schema { return migrations.Schema{} }, Cloud: func() app.Cloud { return app.Cloud{} },
			Open: func(context.Context, *app.Host) (*app.Instance, error) {
				return &app.Instance{API: httpapi.App{Routes: []httpapi.Route{
					{Method: http.MethodGet, Path: "/page", Access: httpapi.User, Do: httpapi.NoContent},
				}}}, nil
			},
		},
	}
}

// A failure in one demo is logged and does not stop the others: an application that does not open, has no data, or has no live updates.
func TestDemosFailAlone(t *testing.T) {
	closed, empty, still, good := small("closed"), small("empty"), small("still"), small("good")
	closed.App.Open = func(context.Context, *app.Host) (*app.Instance, error) { return nil, errors.New("it does not open") }
	empty.Fill = func(context.Context, *app.Host) ([]page.Tile, error) { return nil, errors.New("it has no data") }
	still.Live = func(context.Context, *app.Host) error { return errors.New("it stands still") }
	good.Fill = func(context.Context, *app.Host) ([]page.Tile, error) {
		return []page.Tile{{Href: "/good/page", Title: "Begin here"}}, nil
	}
	cmd := node.DemoCommand("demo", "", closed, empty, still, good)
	ctx, end := context.WithCancel(t.Context())
	said, says := io.Pipe()
	cmd.SetErr(says)
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0"})
	done := make(chan error, 1)
	go func() { err := cmd.ExecuteContext(ctx); _ = says.CloseWithError(err); done <- err }()
	awaited := []string{"it does not open", "it has no data", "it stands still", "Begin here"}
	told, base := "", ""
	for lines := bufio.NewScanner(said); len(awaited) > 0 && lines.Scan(); {
		told += lines.Text() + "\n"
		if _, at, ok := strings.Cut(lines.Text(), "4 applications: open "); ok {
			base, _, _ = strings.Cut(at, " as Ada, or sign in as another of 2 users (Ctrl-C ends)")
		}
		for i := 0; i < len(awaited); i++ {
			if strings.Contains(lines.Text(), awaited[i]) {
				awaited = append(awaited[:i], awaited[i+1:]...)
				i--
			}
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	if len(awaited) > 0 {
		t.Fatalf("not told: %q in %s", awaited, told)
	}
	for path, want := range map[string]int{"/closed/page": 404, "/empty/page": 204, "/still/page": 204, "/good/page": 204} {
		if status, _ := get(t, base+path); status != want {
			t.Errorf("%s: %d, not %d", path, status, want)
		}
	}
	if _, front := get(t, base+"/"); !regexp.MustCompile(`(?s)closed.*empty.*still.*href="/still/-/"><span class="tile__line">About to begin.*href="/good/page"`).MatchString(front) {
		t.Error(front)
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A demo that runs alone ends with its failure.
func TestDemoFails(t *testing.T) {
	d := small("empty")
	d.Fill = func(context.Context, *app.Host) ([]page.Tile, error) { return nil, errors.New("it has no data") }
	cmd := node.DemoCommand("empty", "", d)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0", "--quiet"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "it has no data") {
		t.Error(err)
	}
}

// The first line says where the demo is and who can sign in, whatever was logged before.
func TestDemoSaysWhereItIs(t *testing.T) {
	d := small("one")
	d.Users = app.DemoUsers(1)
	d.Fill = func(_ context.Context, h *app.Host) ([]page.Tile, error) { h.Log.Warn("slow"); return nil, nil }
	d.Live = func(_ context.Context, h *app.Host) error { h.Log.Warn("slow again"); return nil }
	d.Told = func(context.Context, *app.Host) (string, error) { return "", nil }
	cmd := node.DemoCommand("one", "", d)
	var said bytes.Buffer
	cmd.SetErr(&said)
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0", "--once"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Error(err)
	}
	if !regexp.MustCompile(`^one: open http://127\.0\.0\.1:\d+ and sign in as Ada \(Ctrl-C ends\)\n.*slow again`).MatchString(said.String()) {
		t.Error(said.String())
	}
}

func get(t *testing.T, at string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := web.Client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}
