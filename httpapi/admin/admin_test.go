package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// caretaker is a node with scripted answers.
type caretaker struct {
	paths   []string
	steps   int
	err     error
	hold    chan struct{} // nil: does not wait for the caller to leave
	problem []store.Problem
	tests   []string
}

func (n *caretaker) Backup(ctx context.Context, path string, progress func(done, total int64)) (store.BackupInfo, error) {
	n.paths = append(n.paths, path)
	for i := range n.steps {
		progress(int64(i), int64(n.steps))
	}
	if n.hold != nil {
		<-ctx.Done()
		close(n.hold)
		return store.BackupInfo{}, context.Cause(ctx)
	}
	return store.BackupInfo{Path: path, Bytes: 7, Node: "lords", Seq: 1<<40 + 3}, n.err
}

func (n *caretaker) Check(_ context.Context, progress func(where string)) ([]store.Problem, error) {
	for range n.steps {
		progress("table a")
		progress("table b")
	}
	return n.problem, n.err
}

// test is a command of an application.
func (n *caretaker) test(_ context.Context, ask json.RawMessage, progress func(Progress)) (any, error) {
	n.tests = append(n.tests, string(ask))
	for i := range n.steps {
		progress(Progress{What: "old", Done: int64(i), Total: int64(n.steps)})
	}
	return map[string]any{"ok": true, "read": 7}, n.err
}

// serveAdmin serves the admin routes on a socket and returns its path.
func serveAdmin(t *testing.T, n *caretaker) string {
	t.Helper()
	s, err := httpapi.New(httpapi.Config{Store: storetest.Open(t), Clock: clock.Real(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	c := Config{Node: n, Commands: []Command{{"/push/test", n.test}, {"/migrate/la-v2", n.test}}}
	go func() { done <- Run(ctx, ln, s, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the admin socket ends with %v", err)
		}
	})
	return socket
}

// askAdmin sends one raw request.
func askAdmin(t *testing.T, socket, method, path, body string) (status int, contentType, answer string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) },
	}}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://admin"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(raw)
}

func TestAdminRoutes(t *testing.T) {
	damaged := fault.New(fault.Damaged, "store_damaged", "page 7 is damaged")
	tests := []struct {
		name               string
		node               caretaker
		method, path, body string
		status             int
		contentType        string
		want               []string
	}{
		{
			name: "status", method: "GET", path: "/status", status: 200,
			contentType: "application/json; charset=utf-8", want: []string{`"journal":`},
		},
		{
			name: "backup", method: "POST", path: "/backup", body: `{"path":"/b.db"}`, status: 200,
			contentType: "application/jsonl", want: []string{`{"result":{"path":"/b.db","bytes":7,`, `"seq":1099511627779`},
		},
		{
			name: "backup where the node likes", method: "POST", path: "/backup", status: 200,
			contentType: "application/jsonl", want: []string{`{"result":{"path":"",`},
		},
		{
			name: "progress", node: caretaker{steps: 3}, method: "POST", path: "/backup", body: `{}`, status: 200,
			contentType: "application/jsonl", want: []string{`{"progress":{"what":"copy","total":3}}` + "\n" + `{"result":`},
		},
		{
			name: "check", node: caretaker{steps: 1, problem: []store.Problem{{Where: "journal", What: "torn"}}}, method: "POST", path: "/check",
			status: 200, contentType: "application/jsonl", want: []string{
				`{"progress":{"what":"table a"}}` + "\n" + `{"progress":{"what":"table b"}}` + "\n" +
					`{"result":{"problems":[{"where":"journal","what":"torn"}]}}` + "\n",
			},
		},
		{
			name: "an error at once", node: caretaker{err: damaged}, method: "POST", path: "/backup", body: `{}`, status: 500,
			contentType: "application/problem+json", want: []string{`"detail":"page 7 is damaged"`, `"code":"store_damaged"`},
		},
		{
			name: "an error in the middle", node: caretaker{steps: 1, err: damaged}, method: "POST", path: "/check", body: `{}`, status: 200,
			contentType: "application/jsonl", want: []string{`{"error":{"type":"about:blank"`, `"detail":"page 7 is damaged"`},
		},
		{
			name: "an error of nobody", node: caretaker{err: errors.New("secret")}, method: "POST", path: "/check", status: 500,
			contentType: "application/problem+json", want: []string{`"code":"internal"`},
		},
		{
			name: "a relative path", method: "POST", path: "/backup", body: `{"path":"b.db"}`, status: 400,
			contentType: "application/problem+json", want: []string{"path must be absolute"},
		},
		{
			name: "an unknown field", method: "POST", path: "/backup", body: `{"pth":"/b.db"}`, status: 400,
			contentType: "application/problem+json", want: []string{`"code":"validation"`},
		},
		{
			name: "two objects", method: "POST", path: "/backup", body: `{}{}`, status: 400, contentType: "application/problem+json",
		},
		{
			name: "too much", method: "POST", path: "/backup", body: `{"path":"/` + strings.Repeat("x", 70_000) + `"}`, status: 400,
			contentType: "application/problem+json",
		},
		{name: "another method", method: "GET", path: "/backup", status: 405, contentType: "application/problem+json"},
		{name: "another path", method: "POST", path: "/stop", status: 404, contentType: "application/problem+json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, contentType, body := askAdmin(t, serveAdmin(t, &test.node), test.method, test.path, test.body)
			if status != test.status || contentType != test.contentType {
				t.Errorf("got %d %s, want %d %s", status, contentType, test.status, test.contentType)
			}
			for _, want := range test.want {
				if !strings.Contains(body, want) {
					t.Errorf("got %s, want %s", body, want)
				}
			}
			if strings.Contains(body, "secret") {
				t.Errorf("the answer leaks a secret: %s", body)
			}
			for line := range bytes.Lines([]byte(body)) {
				if !json.Valid(line) {
					t.Errorf("not JSON: %s", line)
				}
			}
		})
	}
}

func TestAdminClient(t *testing.T) {
	node := &caretaker{steps: 2}
	client := NewClient(serveAdmin(t, node))
	var seen []Progress
	r, err := client.Backup(t.Context(), "/b.db", func(p Progress) { seen = append(seen, p) })
	if err != nil || r.Path != "/b.db" || r.Bytes != 7 || r.Node != "lords" || len(seen) != 1 || seen[0].Total != 2 {
		t.Errorf("%+v, %v, saw %v", r, err, seen)
	}
	for _, steps := range []int{0, 1} { // before and after the answer has begun
		node.steps, node.err = steps, fault.New(fault.Conflict, "file_exists", "it is there")
		_, err = client.Check(t.Context(), nil)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != "file_exists" || f.Message != "it is there" || f.Kind != fault.Conflict {
			t.Errorf("got %#v", err)
		}
	}
	_, err = NewClient(filepath.Join(t.TempDir(), "none")).Check(t.Context(), nil)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != "no_admin" {
		t.Errorf("got %v", err)
	}
}

// A client that leaves ends its operation.
func TestAdminClientGoes(t *testing.T) {
	node := &caretaker{steps: 1, hold: make(chan struct{})}
	client := NewClient(serveAdmin(t, node))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := client.Backup(ctx, "/b.db", func(Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-node.hold
}

// The socket passes an application's requests and results through without interpreting them.
func TestCommands(t *testing.T) {
	n := &caretaker{steps: 3}
	client := NewClient(serveAdmin(t, n))
	told := 0
	var got struct {
		OK   bool
		Read int
	}
	err := client.Command(t.Context(), "/push/test", map[string]string{"Token": "aa"}, func(Progress) { told++ }, &got)
	if err != nil || !got.OK || got.Read != 7 || told == 0 {
		t.Errorf("%+v, told %d times, %v", got, told, err)
	}
	if diff := cmp.Diff([]string{`{"Token":"aa"}`}, n.tests); diff != "" {
		t.Error(diff)
	}
	n.err = fault.New(fault.Conflict, "busy", "the node is busy")
	if err := client.Command(t.Context(), "/migrate/la-v2", struct{}{}, nil, &got); !fault.Is(err, fault.Conflict) {
		t.Errorf("error %v", err)
	}
}
