package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// drips are clients that each send a request whose body arrives at a byte a second. One that is cut off, or answered, connects again.
type drips struct {
	count     int
	addresses int    // from which they connect, in turn
	head      string // of their requests
	dynamodb  bool   // at the DynamoDB port
}

const (
	dripEvery   = time.Second     // between two bytes of a client
	dripAgain   = 5 * time.Second // from the end of a connection to the next, on average
	dripsWithin = 5 * time.Second // in which the clients begin: this program would be measured if all did at once
)

// Heads of requests whose bodies the node reads, of those that it refuses before, and of one that does not end.
const (
	postNowhere    = "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
	endlessHead    = "POST / HTTP/1.1\r\nHost: localhost\r\nCookie: "
	postToHTTP     = "POST /3fc/v1/auth/code/complete HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
	postToDynamoDB = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n" +
		"X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 100000\r\n\r\n"
)

func (d drips) run(ctx context.Context, n *node, quick bool) error {
	count, to := d.count, n.http
	if quick {
		count /= 10
	}
	if d.dynamodb {
		to = n.dynamodb
	}
	return measure.Together(count, func(nth int) error {
		from := &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+nth%d.addresses/250), byte(1+nth%d.addresses%250))}
		pause(ctx, time.Duration(nth)*dripsWithin/time.Duration(count))
		for ctx.Err() == nil {
			d.send(ctx, from, to, d.head)
			pause(ctx, dripAgain/2+rand.N(dripAgain))
		}
		return nil
	})
}

// send sends one request until its connection is cut off or answered, or ctx ends. How it ends says nothing: the node may do as it likes.
func (d drips) send(ctx context.Context, from net.Addr, to, head string) {
	conn, err := (&net.Dialer{LocalAddr: from, Timeout: probeWithin, Control: chooseLate}).DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer conn.Close() //nolint:errcheck // nothing depends on it
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // or the ports of one address would all be waiting after half a minute
	}
	if _, err := io.WriteString(conn, head); err != nil {
		return
	}
	for ctx.Err() == nil {
		if conn.SetReadDeadline(time.Now().Add(dripEvery)) != nil {
			return
		}
		if _, err := conn.Read(make([]byte, 512)); !isTimeout(err) {
			return
		}
		if _, err := io.WriteString(conn, "x"); err != nil {
			return
		}
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
