package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/attr"
)

// Order is an instruction for a client: send one kind of request on Conns connections for a while.
type Order struct {
	Addr   string
	Local  bool // DynamoDB's protocol instead of that of server
	Kind   string
	Items  int
	Conns  int
	Millis int64
}

// prepared is how many different requests a client prepares.
const prepared = 512

// carryOut sends prepared requests, one after the other on each of several persistent connections. Go's own client costs more than the
// server it calls, so this one is as simple as the protocol allows.
func (o Order) carryOut(ctx context.Context) (requests int, err error) {
	ready := make([][]byte, prepared)
	choose := newShuffle(o.Items)
	for i := range ready {
		n, it := choose.next()
		ready[i] = o.request(n, it)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conns := make([]*conn, o.Conns)
	for i := range conns {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", o.Addr)
		if err != nil {
			return 0, err
		}
		defer measure.Shut(c)
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		defer stop()
		conns[i] = newConn(c)
	}
	counts := make([]int, o.Conns)
	end := time.Now().Add(time.Duration(o.Millis) * time.Millisecond)
	err = measure.Together(o.Conns, func(i int) (err error) {
		counts[i], err = conns[i].askUntil(end, ready)
		return err
	})
	for _, n := range counts {
		requests += n
	}
	return requests, err
}

func (o Order) request(n int, it attr.Item) []byte {
	if o.Local {
		return localRequest(o.Kind, n, it)
	}
	switch o.Kind {
	case "hello":
		return httpRequest("GET", "/hello", "", nil)
	case "get":
		return httpRequest("GET", fmt.Sprintf("/items/%s/%d", measure.MatchOf(n), n%measure.PerMatch), "", nil)
	case "query":
		from := n % (measure.PerMatch - measure.QueryItems)
		return httpRequest("GET", fmt.Sprintf("/items/%s?from=%d&to=%d", measure.MatchOf(n), from, from+measure.QueryItems), "", nil)
	default:
		return httpRequest("PUT", "/items", "", attr.AppendJSON(nil, it))
	}
}

func httpRequest(method, path, headers string, body []byte) []byte {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s", method, path, headers)
	if body != nil {
		head += fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", jsonType, len(body))
	}
	return append([]byte(head+"\r\n"), body...)
}

// conn is a persistent connection.
type conn struct {
	net.Conn
	r *bufio.Reader
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, r: bufio.NewReaderSize(c, 64<<10)} }

func (c *conn) askUntil(end time.Time, requests [][]byte) (count int, err error) {
	for time.Now().Before(end) {
		if err := c.ask(requests[rand.IntN(len(requests))]); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// ask sends a request and reads the answer, discarding its body.
func (c *conn) ask(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	status, err := c.r.ReadSlice('\n')
	if err != nil {
		return err
	}
	ok := bytes.HasPrefix(status, []byte("HTTP/1.1 200"))
	length := -1
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if name, value, found := bytes.Cut(line, []byte(":")); found && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("an answer does not say how long it is")
	}
	if !ok {
		text, _ := io.ReadAll(io.LimitReader(c.r, int64(length)))
		return fmt.Errorf("refused: %s", text)
	}
	_, err = c.r.Discard(length)
	return err
}
