package dynamoapi_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const anItem = `{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}`

// TestOtherPaths: the API is at the root and nowhere else.
func TestOtherPaths(t *testing.T) {
	addr := served(t, open(t))
	for _, path := range []string{"/x", "/x/", "//", "/_/nothing", "/index.html", "/%2e", "/?x=1"} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			r := request(t, addr, getTarget, strings.NewReader(anItem))
			r.Method = method
			r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
			want := 404
			if r.URL.Path == "/" {
				want = 200
			}
			if got := send(t, r); got.status != want {
				t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
			}
		}
	}
}

func TestLongHeaders(t *testing.T) {
	addr := served(t, open(t))
	for length, want := range map[int]int{15 << 10: 200, 16<<10 + 1: 431, 19 << 10: 431, 100 << 10: 431} {
		got, err := (&http.Client{Timeout: time.Minute}).Do(request(t, addr, getTarget, strings.NewReader(anItem), "X-Long", strings.Repeat("x", length)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, got.Body)
		got.Body.Close()
		if got.StatusCode != want || err != nil {
			t.Errorf("a header of %d bytes: %d, want %d; %v", length, got.StatusCode, want, err)
		}
	}
}

// TestEmptyAnswers: operations on tags that have nothing to say answer with no body at all.
func TestEmptyAnswers(t *testing.T) {
	addr := served(t, open(t))
	const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tab"`
	for target, body := range map[string]string{
		"TagResource": `{` + arn + `,"Tags":[{"Key":"k","Value":"v"}]}`, "UntagResource": `{` + arn + `,"TagKeys":["k"]}`,
	} {
		got := post(t, addr, "DynamoDB_20120810."+target, strings.NewReader(body))
		if got.status != 200 || got.body != "" || got.header.Get("X-Amz-Crc32") != "0" || got.header.Get("Content-Length") != "0" {
			t.Errorf("%s: %+v", target, got)
		}
	}
}

// deflated packs a text, with the header and checksum of zlib or without.
func deflated(t *testing.T, text string, bare bool) []byte {
	t.Helper()
	var out bytes.Buffer
	var z io.WriteCloser
	z, _ = zlib.NewWriterLevel(&out, flate.BestSpeed) // the level is one that there is
	if bare {
		z, _ = flate.NewWriter(&out, flate.BestSpeed)
	}
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDeflatedBodies(t *testing.T) {
	addr := served(t, open(t))
	for name, c := range map[string]struct {
		body   []byte
		status int
		want   string
	}{
		"zlib":       {deflated(t, anItem, false), 200, "{}"},
		"bare":       {deflated(t, anItem, true), 200, "{}"},
		"not packed": {[]byte(anItem), 400, "The body could not be read"},
		"cut short":  {deflated(t, anItem, false)[:20], 400, "The body could not be read"},
		"empty":      {nil, 400, "The body could not be read"},
		"a bomb":     {deflated(t, strings.Repeat(" ", 17<<20), false), 413, "RequestEntityTooLargeException"},
	} {
		got := post(t, addr, getTarget, bytes.NewReader(c.body), "Content-Encoding", "deflate")
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// TestTooLargeIsHeard: a client that sends all of a request before it reads gets the refusal, not a reset, however many do so
// at once. Some say how long it is, some do not, some are refused for another reason before.
func TestTooLargeIsHeard(t *testing.T) {
	addr := served(t, open(t))
	const large = 20 << 20
	var clients sync.WaitGroup
	for i := range 9 {
		clients.Go(func() {
			head, end, want := fmt.Sprintf("X-Amz-Target: %s\r\nContent-Length: %d\r\n", getTarget, large), "", 413
			switch i % 3 {
			case 1:
				head = fmt.Sprintf("X-Amz-Target: %s\r\nTransfer-Encoding: chunked\r\n", getTarget)
				end = "\r\n0\r\n\r\n"
			case 2:
				head, want = fmt.Sprintf("X-No-Target: x\r\nContent-Length: %d\r\nX-Wrong: x\r\n", large), 404
			}
			if got, err := sendBlindly(addr, head, end, i%3 == 2, large); err != nil || got != want {
				t.Errorf("client %d: %d, %v; want %d", i, got, err, want)
			}
		})
	}
	clients.Wait()
}

// sendBlindly sends a request to its end and only then reads the answer, of which it gives the status.
func sendBlindly(addr, head, end string, otherType bool, size int) (int, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, err
	}
	media := "application/x-amz-json-1.0"
	if otherType {
		media = "text/plain"
	}
	out := bufio.NewWriter(conn)
	fmt.Fprintf(out, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n%s\r\n", addr, media, head)
	if end != "" {
		fmt.Fprintf(out, "%x\r\n", size)
	}
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	for range size / len(chunk) {
		if _, err := out.Write(chunk); err != nil {
			return 0, err
		}
	}
	if _, err := out.WriteString(end); err != nil {
		return 0, err
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer got.Body.Close()
	_, err = io.Copy(io.Discard, got.Body)
	return got.StatusCode, err
}

// TestWhoAsksBeforeSending: a client that waits for leave to send a body that is too large never sends it.
func TestWhoAsksBeforeSending(t *testing.T) {
	conn, err := net.Dial("tcp", served(t, open(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Amz-Target: %s\r\nExpect: 100-continue\r\n"+
		"Content-Length: %d\r\n\r\n", getTarget, 40<<20)
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusRequestEntityTooLarge || !got.Close {
		t.Errorf("%s, close %v", got.Status, got.Close)
	}
}
