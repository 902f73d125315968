//go:build unix

package sportmonks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// testMatch writes the replies of a whole Test: the rows of a real reply, and balls of the same size as its own.
type testMatch struct {
	head, ball string // templates
	buf        bytes.Buffer
}

const testBalls = 2700

func newTestMatch(tb testing.TB) *testMatch {
	tb.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "reply-71344.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var small bytes.Buffer
	if err := json.Compact(&small, body); err != nil {
		tb.Fatal(err)
	}
	text := small.String()
	cut := strings.Index(text, `"balls":[`) + len(`"balls":[`)
	first := text[cut:]
	end, err := valueEnd([]byte(first), 0)
	if err != nil {
		tb.Fatal(err)
	}
	m := &testMatch{head: text[:cut]}
	m.ball = strings.NewReplacer(`"id":11917185,`, `"id":%d,`, `"ball":0.3`, `"ball":%d.%d`, `"scoreboard":"S1"`,
		`"scoreboard":"S%d"`).Replace(strings.ReplaceAll(first[:end], "%", "%%"))
	return m
}

// reply returns the feed's reply after n balls. The head changes with every ball.
func (m *testMatch) reply(n int) []byte {
	m.buf.Reset()
	m.buf.WriteString(strings.Replace(m.head, `"score":182`, fmt.Sprintf(`"score":%d`, n), 1))
	for i := range n {
		if i > 0 {
			m.buf.WriteByte(',')
		}
		fmt.Fprintf(&m.buf, m.ball, 11917185+i*3, i/6, i%6+1, 1+i*4/testBalls)
	}
	m.buf.WriteString(`],"note":null}}`)
	return m.buf.Bytes()
}

// The first reply of a whole Test: a body of 3 MB, all of it new.
func BenchmarkFirstReply(b *testing.B) {
	body := newTestMatch(b).reply(testBalls)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := newDecoder().reply(body, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// The next reply at the end of a Test: one new ball.
func BenchmarkNextBall(b *testing.B) {
	m := newTestMatch(b)
	before := bytes.Clone(m.reply(testBalls - 1))
	body := bytes.Clone(m.reply(testBalls))
	d := newDecoder()
	first, err := d.reply(before, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		d.span(body) // the client compares it with the last reply's
		if _, err := d.reply(body, first.fixtures); err != nil {
			b.Fatal(err)
		}
	}
}

// A Test of 2,700 balls through the client over HTTP, one reply per ball. An iteration is a match; cpu-s/match is the CPU
// time of the whole process, including the server that writes the bodies.
func BenchmarkTestMatchOverHTTP(b *testing.B) {
	m := newTestMatch(b)
	whole := bytes.Clone(m.reply(testBalls))
	ends := make([]int, testBalls+1) // where ball n ends in whole
	at := bytes.Index(whole, []byte(`"balls":[`)) + len(`"balls":[`)
	for n := 1; n <= testBalls; n++ {
		end, err := valueEnd(whole, at)
		if err != nil {
			b.Fatal(err)
		}
		ends[n], at = end, end+1
	}
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(whole[:ends[n]])
		_, _ = w.Write([]byte(`],"note":"` + fmt.Sprint(n) + `"}}`))
	}))
	defer server.Close()
	b.ReportAllocs()
	for b.Loop() {
		c, err := New(Config{BaseURL: server.URL, Token: "t", Clock: clock.NewStepped(time.Now()), CallsPerHour: testBalls * 2})
		if err != nil {
			b.Fatal(err)
		}
		before := cpu(b)
		for n = 1; n <= testBalls; n++ {
			r, err := c.Fixture(b.Context(), "71344", true)
			if err != nil || len(r.Snapshots[0].Balls) != n {
				b.Fatal(err, len(r.Snapshots))
			}
		}
		b.ReportMetric((cpu(b) - before).Seconds(), "cpu-s/match")
		c.Close()
	}
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
