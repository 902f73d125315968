package process

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

var portsGiven atomic.Int32 //nolint:gochecknoglobals // ports are the machine's

// FreePort returns a port that nobody listens on and that nobody else will take, neither before the test does nor while a program that
// returns to it is down. It lies below the range from which systems assign ports, is given to one test only, and tests of other packages
// use other numbers.
func FreePort(t testing.TB) string {
	t.Helper()
	const first, count, apart = 10_000, 20_000, 997 // processes running at once have adjacent ids
	for range count {
		port := strconv.Itoa(first + (apart*os.Getpid()+int(portsGiven.Add(1)))%count)
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ":"+port)
		if err != nil {
			continue // in use
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no port is free")
	return ""
}
