package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/touchline/touchline/internal/tools/measure"
)

// bareLoad is the work of bare clients. They send what the SDK would send, prepared, and read no more of an answer than they must: the SDK
// takes more time for a request than the server.
type bareLoad struct {
	server  string
	make    func(next func() int) call // nil: a hello
	clients int
}

// bareRows has the rows that are measured with bare clients.
var bareRows = [...]struct {
	id          string
	ours, floor bareLoad
}{
	{helloRow, bareLoad{ours, get, 16}, bareLoad{cannedBytes, nil, 16}},
	{"http/crowd", bareLoad{ours, put, 64}, bareLoad{ours, put, 1}},
	{"local/get", bareLoad{ours, get, 1}, bareLoad{localDisk, get, 1}},
	{"local/query", bareLoad{ours, query, 1}, bareLoad{localDisk, query, 1}},
	{"local/put", bareLoad{ours, put, 1}, bareLoad{localDisk, put, 1}},
	{"local/put-64", bareLoad{ours, put, 64}, bareLoad{localDisk, put, 64}},
}

// helloRow compares processor time. A hello takes the clients as long as the server, so its rate would say little about either.
const helloRow = "http/get"

// measureBare adds the rows of bare clients. Memory is compared behind their work.
func (b *bench) measureBare(ctx context.Context) error {
	for _, row := range bareRows {
		if !b.Wants(row.id) && (row.floor.server != localDisk || !b.Wants("local/memory")) {
			continue
		}
		if why := b.absent[row.floor.server]; why != "" {
			b.Missing(row.id, firstLine(why))
			continue
		}
		b.Say("%s ...", row.id)
		var sides [2]measure.Side
		for i, l := range [...]bareLoad{row.ours, row.floor} {
			var err error
			if sides[i], err = b.bareSide(ctx, l); err != nil {
				return err
			}
		}
		got, err := measure.Interleave(ctx, b.size.rounds, sides[:]...)
		if err != nil {
			return err
		}
		if row.id == helloRow {
			b.Compare(row.id, measure.Rate(got[0].CPU), measure.Rate(got[1].CPU))
		} else {
			b.Compare(row.id, measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
		}
	}
	return nil
}

// bareSide prepares the work of bare clients, and warms a slow server up.
func (b *bench) bareSide(ctx context.Context, l bareLoad) (measure.Side, error) {
	s := b.server(l.server)
	requests := make([][][]byte, l.clients)
	if l.make == nil {
		for i := range requests {
			requests[i] = [][]byte{[]byte("GET /hello HTTP/1.1\r\nHost: " + s.addr + "\r\n\r\n")}
		}
	} else {
		for i, own := range (operation{make: l.make}).prepare(l.clients, b.size.items, b.size.ready) {
			for _, c := range own {
				requests[i] = append(requests[i], s.recorded(ctx, c))
			}
		}
	}
	ask := func(d time.Duration) (int, error) { return s.askBare(ctx, requests, d) }
	if s.slow {
		if _, err := ask(b.size.warm); err != nil {
			return measure.Side{}, err
		}
	}
	return measure.Side{PID: s.pid, Run: func() (int, error) { return ask(b.size.slice) }}, nil
}

// recorded returns the bytes of a request that the SDK would send.
func (s *server) recorded(ctx context.Context, c call) []byte {
	var r recorder
	_ = c(ctx, dynamodb.New(s.client.Options(), func(o *dynamodb.Options) { o.HTTPClient = &r })) // it always fails
	return r.Bytes()
}

// recorder is a client that writes requests down instead of sending them.
type recorder struct{ bytes.Buffer }

// Do implements aws.HTTPClient.
func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	return nil, errors.Join(errors.New("it is not sent"), request.Write(r))
}

// askBare sends requests for a while, those of each client one after the other on a connection of its own.
func (s *server) askBare(ctx context.Context, requests [][][]byte, d time.Duration) (count int, err error) {
	conns := make([]bareConn, len(requests))
	for i := range conns {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr)
		if err != nil {
			return 0, err
		}
		defer measure.Shut(c)
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		defer stop()
		conns[i] = bareConn{c, bufio.NewReaderSize(c, 64<<10)}
	}
	return s.busy(len(conns), d, func(client, n int) error {
		return conns[client].ask(requests[client][n%len(requests[client])])
	})
}

// bareConn is a persistent connection.
type bareConn struct {
	net.Conn
	answers *bufio.Reader
}

// ask sends a request and reads the answer.
func (c bareConn) ask(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("refused: %s", text)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
