package process

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

var portsGiven atomic.Int32 //nolint:gochecknoglobals // ports are the machine's

// FreePort finds a port that nobody listens on, and that nobody takes before the test does, or while a program is down that comes back to
// it: it lies below those that systems give to whoever asks for any, is given to one test only, and tests of other packages look elsewhere.
func FreePort(t testing.TB) string {
	t.Helper()
	const first, count, apart = 10_000, 20_000, 997 // the numbers of processes that run at once lie close together
	for range count {
		port := strconv.Itoa(first + (apart*os.Getpid()+int(portsGiven.Add(1)))%count)
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ":"+port)
		if err != nil {
			continue // somebody's
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no port is free")
	return ""
}
