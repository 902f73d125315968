package dynamoapi_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store/storetest"
)

// served runs an API on a port and returns its address.
func served(t testing.TB, a *dynamoapi.API) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := a.Run(ctx, ln); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		run.Wait()
	})
	return ln.Addr().String()
}

// answer is a received answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request and reads the answer.
func send(t testing.TB, r *http.Request) answer {
	t.Helper()
	client := http.Client{Timeout: time.Minute}
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got.ContentLength != int64(len(body)) {
		t.Errorf("%d bytes announced, %d read", got.ContentLength, len(body))
	}
	return answer{got.StatusCode, got.Header, string(body)}
}

// request returns a request as clients send it, with additional headers.
func request(t testing.TB, addr, operation string, body io.Reader, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", operation)
	r.Header.Set("Accept-Encoding", "identity")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func post(t testing.TB, addr, operation string, body io.Reader, headers ...string) answer {
	t.Helper()
	return send(t, request(t, addr, operation, body, headers...))
}

const getTarget = "DynamoDB_20120810.GetItem"

// Every answer has a request id, a checksum, a type and a length, and is JSON.
func TestAnswers(t *testing.T) {
	addr := served(t, open(t))
	key := `{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}`
	for _, c := range []struct {
		target, body string
		headers      []string
		status       int
		want         string
	}{
		{getTarget, key, nil, 200, `{}`},
		{getTarget, key, []string{"Content-Type", "application/json; charset=utf-8"}, 200, `{}`},
		{"DynamoDB_20120810.Nothing", `{}`, nil, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException","Message":"This is not DynamoDB itself, and has no operation Nothing"}`},
		{"DynamoDB_20111205.GetItem", `{}`, nil, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException","Message":""}`},
		{"", `{}`, nil, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException","Message":""}`},
		{getTarget, key, []string{"Content-Type", "text/plain"}, 404, `{"__type":"com.amazon.coral.service#UnknownOperationException","Message":""}`},
		{getTarget, ``, nil, 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"Unexpected end of JSON: '{' expected"}`},
		{getTarget, `null`, nil, 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"Unexpected character at byte 0 of the JSON: '{' expected"}`},
		{getTarget, key, []string{"Content-Encoding", "gzip"}, 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"The body is not gzip"}`},
		{getTarget, `{"TableName":"none","Key":{"pk":{"S":"a"}}}`, nil, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}`},
	} {
		got := post(t, addr, c.target, strings.NewReader(c.body), c.headers...)
		if got.status != c.status || got.body != c.want {
			t.Errorf("%s %s %v:\ngot  %d %s\nwant %d %s", c.target, c.body, c.headers, got.status, got.body, c.status, c.want)
		}
		checkHeaders(t, got)
	}
}

func checkHeaders(t *testing.T, a answer) {
	t.Helper()
	if got := a.header.Get("X-Amzn-Requestid"); !regexp.MustCompile(`^[0-9A-Z]{52}$`).MatchString(got) {
		t.Errorf("request id %q", got)
	}
	if got, want := a.header.Get("X-Amz-Crc32"), strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(a.body))), 10); got != want {
		t.Errorf("checksum %s, want %s", got, want)
	}
	if got := a.header.Get("Content-Type"); got != "application/x-amz-json-1.0" || !json.Valid([]byte(a.body)) {
		t.Errorf("%s: %s", got, a.body)
	}
}

func TestHealth(t *testing.T) {
	r := request(t, served(t, open(t)), "", nil)
	r.Method = http.MethodGet
	if got := send(t, r); got.status != 200 || got.body != "healthy: dynamodb.us-east-1.amazonaws.com " {
		t.Errorf("%+v", got)
	}
}

func compressAnswer(text string) *bytes.Buffer {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is valid
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return &out
}

// Requests and answers may be compressed; the checksum covers the bytes sent.
func TestGzip(t *testing.T) {
	addr := served(t, open(t))
	text := strings.Repeat("over ", 400)
	put := post(t, addr, "DynamoDB_20120810.PutItem",
		compressAnswer(`{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"text":{"S":"`+text+`"}}}`), "Content-Encoding", "gzip")
	if put.status != 200 {
		t.Fatal(put.body)
	}
	got := post(t, addr, getTarget, strings.NewReader(`{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}`), "Accept-Encoding", "gzip")
	if sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(got.body))), 10); got.header.Get("Content-Encoding") != "gzip" || got.header.Get("X-Amz-Crc32") != sum {
		t.Fatalf("%v, want checksum %s", got.header, sum)
	}
	z, err := gzip.NewReader(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil || !strings.Contains(string(plain), text) {
		t.Errorf("%v: %s", err, plain)
	}
	got = post(t, addr, getTarget, strings.NewReader(`{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}`), "Accept-Encoding", "gzip;q=0")
	if got.header.Get("Content-Encoding") != "" || !strings.Contains(got.body, text) {
		t.Errorf("compressed, which the client refuses: %v", got.header)
	}
}

// A body above 16 MB is refused, compressed or not, as is one shorter than announced.
func TestLargeBodies(t *testing.T) {
	addr := served(t, open(t))
	const limit = 16 << 20
	wrap := func(n int) string { return `{"Unknown":"` + strings.Repeat("x", n-len(`{"Unknown":""}`)) + `"}` }
	for _, c := range []struct {
		body    io.Reader
		headers []string
		status  int
	}{
		{strings.NewReader(wrap(limit)), nil, 400}, // read completely: it has no table
		{strings.NewReader(wrap(limit + 1)), nil, 413},
		{io.MultiReader(strings.NewReader(wrap(limit + 1))), nil, 413}, // in chunks
		{compressAnswer(wrap(limit)), []string{"Content-Encoding", "gzip"}, 400},
		{compressAnswer(wrap(limit + 1)), []string{"Content-Encoding", "gzip"}, 413},
	} {
		got := post(t, addr, getTarget, c.body, c.headers...)
		if got.status != c.status || !json.Valid([]byte(got.body)) {
			t.Errorf("%v: %d %s, want %d", c.headers, got.status, got.body, c.status)
		}
	}
}

// Concurrent large bodies share a limit; the refused ones get an answer, and the memory is released.
func TestBodiesTogether(t *testing.T) {
	addr := served(t, open(t))
	const clients, size = 12, 15 << 20
	var conns []net.Conn
	for range clients {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	var senders sync.WaitGroup
	for _, conn := range conns {
		senders.Go(func() {
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: %s\r\n"+
				"Content-Length: %d\r\n\r\n", getTarget, size)
			_, _ = io.WriteString(conn, strings.Repeat("x", size-1)) // all but the end: cut off if there is no room
		})
	}
	refused := make(chan string, clients)
	for _, conn := range conns {
		go func() {
			status, _ := io.ReadAll(io.LimitReader(conn, 12))
			refused <- string(status)
		}()
	}
	if got := <-refused; got != "HTTP/1.1 503" {
		t.Fatalf("%q", got)
	}
	for _, conn := range conns {
		conn.Close()
	}
	senders.Wait()
	wait.Until(t, "the room comes back", func() bool {
		return post(t, addr, getTarget, strings.NewReader(`{"Unknown":"`+strings.Repeat("x", size)+`"}`)).status == 400
	})
}

// Clients that are silent, send half a request, or leave in the middle do not block others.
func TestIdleAndBrokenClients(t *testing.T) {
	addr := served(t, open(t))
	for i := range 500 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 0:
			defer conn.Close()
		case 1:
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
			defer conn.Close()
		case 2:
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
			conn.Close()
		}
	}
	got := post(t, addr, getTarget, strings.NewReader(`{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}`))
	if got.status != 200 {
		t.Error(got.body)
	}
}

// Idle connections, before or after a request, do not block the port for others.
func TestIdleConnectionsDoNotHoldThePort(t *testing.T) {
	addr := served(t, dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t), MaxConnections: 8}))
	for i := range 40 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%10 == 0 {
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
	}
	for range 20 {
		if got := post(t, addr, "DynamoDB_20120810.ListTables", strings.NewReader(`{}`)); got.status != 200 {
			t.Fatal(got.body)
		}
	}
}

// A request addressed to another machine's name is refused on loopback, with the model's error for that: a web site could have pointed its
// name here.
func TestOtherMachinesAreRefused(t *testing.T) {
	address := served(t, dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t)}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	got := send(t, r)
	const want = `{"__type":"com.amazonaws.dynamodb.v20120810#InvalidEndpointException","message":"this node serves its own machine only"}`
	if got.status != http.StatusMisdirectedRequest || got.body != want || got.header.Get("Content-Type") != "application/x-amz-json-1.0" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
}

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

// TestEmptyAnswers: operations on tags without a result answer without a body.
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

// deflated compresses a text, with or without zlib's header and checksum.
func deflated(t *testing.T, text string, bare bool) []byte {
	t.Helper()
	var out bytes.Buffer
	var z io.WriteCloser
	z, _ = zlib.NewWriterLevel(&out, flate.BestSpeed) // the level is valid
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

// TestTooLargeIsHeard: a client that sends its whole request before it reads gets the refusal, not a reset, however many do so at once.
// Some announce the length, some do not, some are refused earlier for another reason.
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

// sendBlindly sends a request completely, only then reads the answer, and returns its status.
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

// TestWhoAsksBeforeSending: a client that expects 100 Continue never sends a body that is too large.
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
