package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/wait"
)

const usersTable = `{"TableName":"users","BillingMode":"PAY_PER_REQUEST",
	"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
	"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`

// ddb sends an operation to the endpoint at 127.0.0.1:$PORT, waits until it answers, and stores the answer's body in a file.
func ddb(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: ddb operation body")
	}
	poll(ts, "nobody answers", func() bool {
		status, ok := askAs(ts, args[0], args[1])
		if ok && (status != http.StatusOK) != neg {
			ts.Fatalf("%s: status %d", args[0], status)
		}
		return ok
	})
}

// reset sends POST /_/reset with a query, expects a status, and stores the answer's body in a file.
func reset(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: reset status [query]")
	}
	resp, err := (&http.Client{Timeout: time.Minute}).Post("http://127.0.0.1:"+ts.Getenv("PORT")+"/_/reset"+strings.Join(args[1:], ""), "", http.NoBody)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(writeAnswer(ts.MkAbs("answer"), body))
	if strconv.Itoa(resp.StatusCode) != args[0] {
		ts.Fatalf("status %d, want %s: %s", resp.StatusCode, args[0], body)
	}
}

// untilDDB repeats an operation until its answer matches.
func untilDDB(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: untilddb pattern operation body")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	poll(ts, "the answer never matches", func() bool {
		askAs(ts, args[1], args[2])
		return want.MatchString(ts.ReadFile("answer"))
	})
}

// as signs the following ddb requests.
func as(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: as access-key secret")
	}
	ts.Setenv("SIGNER", args[0])
	ts.Setenv("SECRET", args[1])
}

// poll repeats done until it succeeds, or fails the script with the complaint.
func poll(ts *testscript.TestScript, complaint string, done func() bool) {
	wait.Until(script{ts}, "port "+ts.Getenv("PORT")+" answers as it should", done, func() any { return complaint })
}

// script is a testscript whose waits can fail.
type script struct{ *testscript.TestScript }

// Helper implements wait.Test.
func (script) Helper() {}

// Fatal implements wait.Test.
func (s script) Fatal(args ...any) { s.Fatalf("%s", fmt.Sprint(args...)) }

// askAs sends one operation for a script; ok is false if nobody answered.
func askAs(ts *testscript.TestScript, operation, body string) (status int, ok bool) {
	creds := aws.Credentials{AccessKeyID: ts.Getenv("SIGNER"), SecretAccessKey: ts.Getenv("SECRET")}
	status, answer, err := ask(context.Background(), "http://127.0.0.1:"+ts.Getenv("PORT"), operation, body, creds)
	if err != nil {
		return 0, false
	}
	ts.Logf("%s: %d %s", operation, status, answer)
	ts.Check(writeAnswer(ts.MkAbs("answer"), answer))
	return status, true
}

// ask sends one operation, signed if there are credentials.
func ask(ctx context.Context, url, operation, body string, as aws.Credentials) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	if as.AccessKeyID != "" {
		hash := sha256.Sum256([]byte(body))
		err := signer.NewSigner().SignHTTP(ctx, as, req, hex.EncodeToString(hash[:]), "dynamodb", "us-east-1", time.Now())
		if err != nil {
			return 0, nil, err
		}
	}
	resp, err := (&http.Client{Timeout: 30 * time.Second}).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// endpoint is a process that serves DynamoDB's API.
type endpoint struct {
	edge.Answering
	t   *testing.T
	cmd *exec.Cmd
	err bytes.Buffer
}

// startEndpoint runs touchline dynamodb on a free port until the test ends.
func startEndpoint(t *testing.T, bin string, args ...string) *endpoint {
	t.Helper()
	e := &endpoint{t: t, cmd: within(t, bin,
		append([]string{"dynamodb", "--listen", "127.0.0.1:0", "-o", "json"}, args...)...)}
	e.cmd.Stderr = &e.err
	pipe, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.kill)
	line, err := bufio.NewReader(pipe).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &e.Answering)
	}
	if err != nil {
		e.kill()
		t.Fatalf("%v in %q; %s", err, line, e.err.String())
	}
	return e
}

// kill ends the process like a power cut.
func (e *endpoint) kill() {
	if e.cmd.ProcessState == nil {
		_ = e.cmd.Process.Kill()
		_ = e.cmd.Wait()
	}
}

// stop ends the process like an operator.
func (e *endpoint) stop() {
	e.t.Helper()
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		e.t.Fatal(err)
	}
	if err := e.cmd.Wait(); err != nil {
		e.t.Errorf("%v: %s", err, e.err.String())
	}
}

// ok sends an operation that must succeed.
func (e *endpoint) ok(operation, body string) string {
	e.t.Helper()
	status, answer, err := ask(e.t.Context(), e.Endpoint, operation, body, aws.Credentials{})
	if err != nil || status != http.StatusOK {
		e.t.Fatalf("%s: %d %s, %v", operation, status, answer, err)
	}
	return string(answer)
}

// Acknowledged writes survive a kill with concurrent writers, and the file passes its check.
func TestKilledEndpoint(t *testing.T) {
	bin := binary(t)
	file := filepath.Join(t.TempDir(), "app.db")
	acked := map[string]bool{}
	for life := range 3 {
		e := startEndpoint(t, bin, "--data", file)
		if life == 0 {
			e.ok("CreateTable", usersTable)
		}
		for _, id := range writeUntilKilled(e, life) {
			acked[id] = true
		}
		if e.cmd.ProcessState.ExitCode() != -1 {
			t.Errorf("it was not killed: %v", e.cmd.ProcessState)
		}
	}
	e := startEndpoint(t, bin, "--data", file)
	for id := range acked {
		if got := e.ok("GetItem", fmt.Sprintf(`{"TableName":"users","Key":{"id":{"S":"%s"}}}`, id)); !strings.Contains(got, id) {
			t.Errorf("%s was acknowledged and is gone: %s", id, got)
		}
	}
	e.stop()
	if out, err := within(t, bin, "check", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// writeUntilKilled writes from several clients, kills the process after a while, and returns the ids it acknowledged.
func writeUntilKilled(e *endpoint, life int) (acked []string) {
	const clients, enough = 4, 100
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("life-%d-client-%d-item-%d", life, c, n)
				status, _, err := ask(e.t.Context(), e.Endpoint, "PutItem", fmt.Sprintf(`{"TableName":"users","Item":{"id":{"S":"%s"}}}`, id), aws.Credentials{})
				if err != nil {
					return
				}
				if status != http.StatusOK {
					e.t.Errorf("status %d", status)
					return
				}
				mu.Lock()
				acked = append(acked, id)
				if len(acked) == enough {
					_ = e.cmd.Process.Kill()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	_ = e.cmd.Wait()
	return acked
}

// A request in progress is finished when the process is told to end, and nothing remains of --memory.
func TestEndpointEndsInOrder(t *testing.T) {
	bin := binary(t)
	e := startEndpoint(t, bin, "--memory")
	if e.Data != "" {
		t.Errorf("it names the file %q", e.Data)
	}
	e.ok("CreateTable", usersTable)
	body, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.Endpoint, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("Expect", "100-continue") // the body goes when the server asks for it: by then the request has begun
	answered := make(chan string, 1)
	go func() {
		patience := hang.Limit(time.Minute)
		resp, err := (&http.Client{Timeout: patience, Transport: &http.Transport{ExpectContinueTimeout: patience}}).Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		answered <- resp.Status
	}()
	if _, err := io.WriteString(w, `{"TableName":"users","Item":{"id":`); err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // it refuses new connections
		if _, _, err := ask(t.Context(), e.Endpoint, "ListTables", `{}`, aws.Credentials{}); err != nil {
			break
		}
	}
	if _, err := io.WriteString(w, `{"S":"a"}}}`); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if got := <-answered; got != "200 OK" {
		t.Errorf("the request that had begun: %s", got)
	}
	if err := e.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, e.err.String())
	}
	again := startEndpoint(t, bin, "--memory")
	if got := again.ok("ListTables", `{}`); got != `{"TableNames":[]}` {
		t.Errorf("left of the memory: %s", got)
	}
	again.stop()
}
