package process

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

var portsGiven atomic.Int32 //nolint:gochecknoglobals // ports are the machine's

// FreePort is Port for a test.
func FreePort(t testing.TB) string {
	t.Helper()
	port, err := Port(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Port returns a port that nobody listens on and that nobody else will take, neither before the caller does nor while a program that
// returns to it is down. It lies below the range from which systems assign ports, is given only once, and other processes use other
// numbers.
func Port(ctx context.Context) (string, error) {
	const first, count, apart = 10_000, 20_000, 997 // processes running at once have adjacent ids
	for range count {
		port := strconv.Itoa(first + (apart*os.Getpid()+int(portsGiven.Add(1)))%count)
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+port)
		if err == nil {
			return port, ln.Close()
		}
	}
	return "", errors.New("no port is free")
}
