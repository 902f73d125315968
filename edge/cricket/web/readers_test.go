package web

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// The readers of BenchmarkReaders run in their own process, so that the server's memory is measured without theirs.
const (
	readersAt   = "TOUCHLINE_BENCH_READERS" // address to read from: "127.0.0.1:8080"
	readersMany = "TOUCHLINE_BENCH_MANY"    // number of readers
	readersGzip = "TOUCHLINE_BENCH_GZIP"
)

// readStreams opens the streams. Each time all of them have received a message it prints when the last one did.
func readStreams(address string) {
	many, err := strconv.Atoi(os.Getenv(readersMany))
	if err != nil {
		panic(err)
	}
	end, accept := []byte("\n\n\r\n"), ""
	if os.Getenv(readersGzip) != "" {
		end, accept = []byte("\x00\x00\xff\xff\r\n"), "Accept-Encoding: gzip\r\n"
	}
	const head = 1500 // bytes: the answer's head is always shorter, the snapshot always longer
	request := "GET " + streamPath + " HTTP/1.1\r\nHost: " + address + "\r\n" + accept + "\r\n"
	var had atomic.Int64
	var open sync.WaitGroup
	limit := make(chan struct{}, 64) // connecting at once
	for range many {
		limit <- struct{}{}
		open.Add(1)
		go func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				panic(err)
			}
			if _, err := conn.Write([]byte(request)); err != nil {
				panic(err)
			}
			buf, tail, got, begun := make([]byte, 4<<10), []byte{}, 0, false
			for {
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				got += n
				if tail = append(tail, buf[:n]...); len(tail) > len(end) {
					tail = append(tail[:0], tail[len(tail)-len(end):]...)
				}
				if !bytes.Equal(tail, end) {
					continue
				}
				tail = tail[:0]
				switch {
				case got < head:
				case !begun: // the whole snapshot has arrived
					begun = true
					<-limit
					open.Done()
				case had.Add(1) == int64(many):
					had.Store(0)
					fmt.Println(time.Now().UnixNano())
				}
			}
		}()
	}
	open.Wait()
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadString('x') // until the benchmark is over
}

// memory returns the bytes that the process holds: resident, and in use by Go.
func memory() (resident, inUse int64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	raw, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		if pages, err := strconv.ParseInt(strings.Fields(string(raw))[1], 10, 64); err == nil {
			resident = pages * int64(os.Getpagesize())
		}
	}
	return resident, int64(m.HeapInuse + m.StackInuse)
}

// BenchmarkReaders measures the time from a commit until the last of 5,000 readers of one match has it, and the server's memory
// per reader.
func BenchmarkReaders(b *testing.B) {
	many := 5000
	if testing.Short() {
		many = 500
	}
	for _, encoding := range []string{"plain", "gzip"} {
		b.Run(encoding, func(b *testing.B) { benchReaders(b, many, encoding == "gzip") })
	}
}

func benchReaders(b *testing.B, many int, packed bool) {
	cfg, f, in := config(b)
	cfg.Heartbeat, cfg.MaxStreams, cfg.UserStreams, cfg.Clock = time.Hour, many+1, many+1, clock.Real()
	url, _ := start(b, cfg)
	resident, inUse := memory()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), readersAt+"="+strings.TrimPrefix(url, "http://"), readersMany+"="+strconv.Itoa(many))
	if packed {
		cmd.Env = append(cmd.Env, readersGzip+"=1")
	}
	cmd.Stderr = os.Stderr
	in1, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { in1.Close(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		b.Fatalf("the readers say %q", lines.Text())
	}
	r, u := memory()
	b.Logf("%s: %d readers: %.1f KB each resident, %.1f KB in use by Go", b.Name(), many, float64(r-resident)/1024/float64(many), float64(u-inUse)/1024/float64(many))
	var sum, worst time.Duration
	d := in.Display
	b.ResetTimer()
	for i := range b.N {
		d.Required = i + 1
		began := time.Now().UnixNano()
		f.putDisplay(d)
		if !lines.Scan() {
			b.Fatal("the readers are gone")
		}
		last, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		took := time.Duration(last - began)
		sum, worst = sum+took, max(worst, took)
	}
	b.StopTimer()
	b.ReportMetric(float64(sum.Milliseconds())/float64(b.N), "ms/last")
	b.ReportMetric(float64(worst.Milliseconds()), "ms/worst")
	b.ReportMetric(float64(u-inUse)/1024/float64(many), "KB/reader")
}
