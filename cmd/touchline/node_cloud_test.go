//go:build long && linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// cloudNode is a `touchline serve` with its own connection to the cloud.
type cloudNode struct {
	t     *testing.T
	name  string
	rig   *cloudRig
	door  *faultproxy.Proxy
	dir   string
	web   string
	api   *dynamodb.Client // of the node's own DynamoDB endpoint
	env   []string         // of the process, besides the common variables
	cmd   *exec.Cmd
	log   processLog
	kills int

	befell [mishaps]atomic.Int32
}

// node returns a node that does not run yet.
func (r *cloudRig) node(name string, seed uint64) *cloudNode {
	r.t.Helper()
	n := &cloudNode{
		t: r.t, name: name, rig: r, dir: filepath.Join(r.dir, name), web: "127.0.0.1:" + process.FreePort(r.t),
		door: faultproxy.Start(r.t, r.Addr, seed),
	}
	n.api = bareClient("http://127.0.0.1:"+process.FreePort(r.t), &http.Client{Timeout: time.Minute, Transport: &http.Transport{}})
	return n
}

// processLog is the output of a process. It can be read while the process runs.
type processLog struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (l *processLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *processLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// reader gives the SDK an answer only after it is complete: the SDK closes the request's body while net/http may still look for its
// end, and net/http then closes the connection in the middle of a long answer.
type reader struct{ *http.Client }

func (r reader) Do(req *http.Request) (*http.Response, error) {
	resp, err := r.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

// bareClient returns an SDK client without retries.
func bareClient(url string, client *http.Client) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url), HTTPClient: reader{client}, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("node", "secret", ""),
	})
}

func (n *cloudNode) start() {
	n.t.Helper()
	n.cmd = n.rig.command("serve", "--data-dir", n.dir, "--listen", n.web,
		"--dynamodb-listen", strings.TrimPrefix(*n.api.Options().BaseEndpoint, "http://"), "--log-format", "json")
	n.cmd.Env = append(n.cmd.Env, "TOUCHLINE_CLOUD__ENDPOINT="+n.door.URL(), "TOUCHLINE_CLOUD__DEADLINE=2s",
		"TOUCHLINE_CLOUD__LEASE_TTL=3s", "TOUCHLINE_CLOUD__POLL__TABLES=1s", "TOUCHLINE_CLOUD__POLL__LIVE=1s")
	n.cmd.Env = append(n.cmd.Env, n.env...)
	n.cmd.Stderr = &n.log
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	n.until("it answers", nodePatience, func() bool {
		resp, err := client.Get("http://" + n.web + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// nodePatience is for what takes a node a few seconds, on a busy machine.
var nodePatience = hang.Limit(2 * time.Minute)

// until waits for a condition.
func (n *cloudNode) until(what string, limit time.Duration, so func() bool) {
	n.t.Helper()
	wait.Within(n.t, limit, n.name+": "+what, so, func() any {
		log := n.log.String()
		return log[max(0, len(log)-3000):]
	})
}

func (n *cloudNode) kill() {
	n.kills++
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait() // killed by us
}

func (n *cloudNode) signal(s syscall.Signal) {
	if err := n.cmd.Process.Signal(s); err != nil {
		n.t.Error(err)
	}
}

// stop ends the process in order, or by force if it hangs.
func (n *cloudNode) stop() {
	n.t.Helper()
	n.signal(syscall.SIGINT)
	hangs := time.AfterFunc(nodePatience, func() { _ = n.cmd.Process.Kill() })
	defer hangs.Stop()
	if err := n.cmd.Wait(); err != nil {
		n.t.Errorf("%s: %v\n%s", n.name, err, n.log.String())
	}
}

// ask runs a CLI command against the running node, and decodes its JSON.
func (n *cloudNode) ask(into any, args ...string) bool {
	out, err := n.rig.command(append(args, "--data-dir", n.dir, "-o", "json")...).Output()
	return err == nil && json.Unmarshal(out, into) == nil
}

// as sends a request as a user, returns the status (0: no answer), and decodes its JSON into a non-nil into.
func (n *cloudNode) as(client *http.Client, user, method, path string, body, into any) int {
	c := edge.DefaultConfig()
	c.DataDir = n.dir
	token, err := edge.Token(c, edge.TokenConfig{User: user, Admin: user == "admin", Life: time.Hour})
	if err != nil {
		return 0
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return 0
	}
	req, err := http.NewRequestWithContext(n.t.Context(), method, "http://"+n.web+"/cricket"+path, bytes.NewReader(raw))
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+token.Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || into != nil && json.Unmarshal(answer, into) != nil {
		return 0
	}
	return resp.StatusCode
}

// syncState is the part of `sync status` that the test checks.
type syncState struct {
	State     string   `json:"state"`
	Waiting   int      `json:"waiting"`
	LastError string   `json:"lastError"`
	Alarms    []string `json:"alarms"`
	Skew      float64  `json:"skewSeconds"`
	Conflicts struct {
		Open, Quarantined, Kept int
	} `json:"conflicts"`
	Node struct {
		Incarnation uint64
		Clone       string
	} `json:"node"`
}

func (n *cloudNode) sync() (s syncState) {
	if !n.ask(&s, "sync", "status") {
		s.State = "no answer"
	}
	return s
}

// drained waits until the cloud has everything that the node has.
func (n *cloudNode) drained(limit time.Duration) syncState {
	n.t.Helper()
	var s syncState
	defer func() {
		if s.Waiting > 0 {
			n.t.Logf("%s: %s", n.name, n.status())
		}
	}()
	n.until("nothing waits", limit, func() bool {
		s = n.sync()
		return s.State != "no answer" && s.Waiting == 0
	})
	return s
}

// table reads a table as text, item by item, without the nodes' own attributes.
func table(ctx context.Context, t *testing.T, c *dynamodb.Client, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	pages := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{TableName: aws.String(name), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			for attribute := range it {
				switch {
				case attribute == "_c", attribute == "_n", attribute == "_t", attribute == "_u", attribute == "_r", strings.HasPrefix(attribute, "_a_"):
					delete(it, attribute)
				}
			}
			out[it["teamId"].(*types.AttributeValueMemberS).Value] = itemText(t, it)
		}
	}
	return out
}

func itemText(t *testing.T, it map[string]types.AttributeValue) string {
	t.Helper()
	flat := map[string]string{}
	for k, v := range it {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			flat[k] = v.Value
		case *types.AttributeValueMemberN:
			flat[k] = v.Value
		default:
			t.Fatalf("the test writes no %T", v)
		}
	}
	text, err := json.Marshal(flat)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// foreign returns a plain SDK client of the cloud itself: the original backend, or a console.
func (r *cloudRig) foreign() *dynamodb.Client {
	return bareClient(r.URL, r.Client)
}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func num(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
}

// keepLogs writes the nodes' logs to a folder if one is configured, for finding the reason of a failure.
func keepLogs(t *testing.T, nodes []*cloudNode) {
	t.Helper()
	dir := os.Getenv("KEEP_LOGS_IN")
	if dir == "" {
		return
	}
	for _, n := range nodes {
		if err := os.WriteFile(filepath.Join(dir, n.name+".log"), []byte(n.log.String()), 0o600); err != nil {
			t.Error(err)
		}
	}
}
