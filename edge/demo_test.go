package edge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
)

// visitor is a browser in a demo: it keeps cookies and follows redirects.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
}

// playDemo runs touchline demo.
func playDemo(ctx context.Context, out io.Writer, args ...string) error {
	for _, c := range Commands(&app.Shell{}).Root {
		if c.Name() == "demo" {
			c.SetErr(out)
			c.SetArgs(args)
			return c.ExecuteContext(ctx)
		}
	}
	return errors.New("there is no demo")
}

// demoed starts touchline demo.
func demoed(t *testing.T, args ...string) *visitor {
	t.Helper()
	said, says := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := playDemo(ctx, says, append(args, "--listen", "127.0.0.1:0")...)
		_ = says.CloseWithError(err)
		done <- err
	}()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	lines, v := bufio.NewScanner(said), &visitor{t: t, client: web.Client(t)}
	if !lines.Scan() || !strings.Contains(lines.Text(), ": open http") {
		t.Fatal("it does not say first where it is:", lines.Text(), lines.Err())
	}
	v.base = regexp.MustCompile(`http://[0-9.:]+`).FindString(lines.Text())
	go func() { _, _ = io.Copy(io.Discard, said) }()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v.client.Jar = jar
	return v
}

// page returns the page that a visitor of a path sees, and its final address.
func (v *visitor) page(path string) (text string, at *url.URL) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.base+path, http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Sec-Fetch-Site", "none")
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	req.Header.Set("Sec-Fetch-Dest", "document")
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %d %s %v", path, resp.StatusCode, raw, err)
	}
	return string(raw), resp.Request.URL
}

// Without a name the demo runs all applications on one node. Its first page lists the five with what is on and where to start, and
// needs no sign-in. The match is played today, and its score advances.
func TestDemoOfAll(t *testing.T) {
	v := demoed(t, "--speed", "20")
	front, _ := v.page("/")
	for _, a := range applications() {
		if home := `<a href="` + a.Settings.Path() + `/-/">`; !strings.Contains(front, home) {
			t.Errorf("the first page does not lead to %s", home)
		}
	}
	scores, score := map[string]bool{}, regexp.MustCompile(`href="(/cricket/-/matches/\d+)"><span class="tile__line">([^<]+)`)
	match := ""
	wait.Until(t, "the score moves", func() bool {
		front, _ = v.page("/")
		if m := score.FindStringSubmatch(front); m != nil {
			match, scores[m[2]] = m[1], true
		}
		return len(scores) >= 4
	})

	// Each application has a tile that leads directly to something live.
	tiles := regexp.MustCompile(`class="tile" href="([^"]+)"`).FindAllStringSubmatch(front, -1)
	found := map[string]string{}
	for _, tile := range tiles {
		app, _, _ := strings.Cut(tile[1], "/-/")
		text, at := v.page(tile[1])
		if strings.HasPrefix(at.Path, "/signin") {
			t.Errorf("%s wants a sign-in", tile[1])
		}
		found[app] += text
	}
	for app, want := range map[string]string{
		"/cricket": "Lock screens", "/scorekeeper": `class="board"`, "/pickem": "Rematch of Revolution", "/hacktracker": "Dockside Diggers", "/3fc": "demo-game-5",
	} {
		if !strings.Contains(found[app], want) {
			t.Errorf("%s: its tiles do not lead to %q", app, want)
		}
	}
	wait.Until(t, "phones are told of the match", func() bool { // sent after the score
		text, _ := v.page(match)
		return strings.Contains(text, "Alert to 4 phones")
	})
	if text, _ := v.page("/signin"); !strings.Contains(text, "Sign in with a demo user") || strings.Contains(text, "ID token") {
		t.Error("people of the demo are to sign in with a token")
	}
	if text, _ := v.page("/_/hub"); !strings.Contains(text, "Live list") {
		t.Error("the operator's page has no live list")
	}
}

// The sign-in of 3FC is a link that never expires. It returns a token of the league's admin, who keeps the live game's score.
func TestDemoSignsInTo3FC(t *testing.T) {
	v := demoed(t)
	for range 2 {
		_, at := v.page("/3fc/-/demo")
		token, to := at.Query().Get("token"), at.Query().Get("to")
		body, err := json.Marshal(map[string]string{"token": token})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.base+"/3fc/v1/auth/magic/complete", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := v.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if text, _ := v.page(to); !strings.Contains(text, `data-refresh="scorer"`) {
			t.Errorf("%s: %d, and %s is not the scorer's page", at, resp.StatusCode, to)
		}
	}
}
