package main

import (
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/touchline/touchline/internal/testrig/process"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"touchline": touchline})
}

// The scripts run the binary as a person would, and check its output.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			e.Setenv("PORT", process.FreePort(t))
			e.Setenv("WEB", process.FreePort(t))
			e.Setenv("USERS", usersTable)
			e.Setenv("NOW", strconv.FormatInt(time.Now().Unix(), 10))
			return private(e.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"occupy":  occupy,
			"corrupt": corrupt,
			"await":   await,
			"ddb":     ddb,
			"reset":   reset,

			"untilddb": untilDDB,
			"as":       as,
			"mode":     mode,
			"idle":     idle,
		},
		RequireExplicitExec: true,
		Deadline:            time.Now().Add(processLimit),
	})
}

// private makes a script's files private: nodes refuse secrets that other users can read.
func private(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = os.Chmod(path, 0o600)
		}
		return err
	})
}

// occupy listens on 127.0.0.1:$PORT until the script ends.
func occupy(ts *testscript.TestScript, _ bool, _ []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:"+ts.Getenv("PORT"))
	ts.Check(err)
	ts.Defer(func() { ln.Close() })
}

// idle opens connections to 127.0.0.1:$PORT that stay silent until the script ends.
func idle(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for range n {
		conn, err := net.Dial("tcp", "127.0.0.1:"+ts.Getenv("PORT"))
		ts.Check(err)
		ts.Defer(func() { conn.Close() })
	}
}

// await waits until a node at 127.0.0.1:$PORT answers a path, with an answer that matches if there is a pattern, and prints it. It
// sends the node's API key, if the node has one.
func await(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await path [pattern]")
	}
	want, err := regexp.Compile("(?m)" + strings.Join(args[1:], ""))
	ts.Check(err)
	client := &http.Client{Timeout: 5 * time.Second}
	poll(ts, "nobody answers so", func() bool {
		req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+ts.Getenv("PORT")+args[0], http.NoBody)
		ts.Check(err)
		if key := ts.Getenv("TOUCHLINE_AUTH__API_KEY"); key != "" {
			req.Header.Set("X-API-Key", key)
		}
		resp, err := client.Do(req)
		if err != nil {
			return false
		}
		body, err := io.ReadAll(resp.Body)
		ts.Check(resp.Body.Close())
		if err != nil || resp.StatusCode != http.StatusOK || !want.Match(body) {
			return false
		}
		ts.Logf("%s: %s", args[0], body)
		ts.Check(writeAnswer(ts.MkAbs("answer"), body))
		return true
	})
}

// writeAnswer writes a body to a file.
func writeAnswer(name string, body []byte) error {
	return os.WriteFile(name, append(body, '\n'), 0o600)
}

// corrupt overwrites the middle of a file with noise.
func corrupt(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	raw, err := os.ReadFile(name)
	ts.Check(err)
	for i := range min(len(raw), 64<<10) {
		raw[i] ^= 0x5a
	}
	ts.Check(os.WriteFile(name, raw, 0o600))
}

// mode compares the mode of a file in the format of ls.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	got := info.Mode().String()
	if info.Mode()&os.ModeSocket != 0 {
		got = "s" + info.Mode().Perm().String()[1:]
	}
	if got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}
