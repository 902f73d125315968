// Package serve runs HTTP servers with an orderly shutdown, and reads headers for those that write their answers themselves.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// RunServer serves on ln until ctx ends, which is not an error. Then it calls ending, unless nil, and finishes requests in progress. Requests
// that take longer than drain are cut off, which the server's ErrorLog reports. If the server ends by itself, that is an error.
func RunServer(ctx context.Context, srv *http.Server, ln net.Listener, drain time.Duration, ending func()) error {
	serving, served := context.WithCancelCause(ctx)
	var loop sync.WaitGroup
	loop.Go(func() { served(srv.Serve(ln)) })
	<-serving.Done()
	if ending != nil {
		ending()
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := srv.Shutdown(within)
	if errors.Is(err, context.DeadlineExceeded) {
		srv.ErrorLog.Print("requests cut off at shutdown")
		err = srv.Close()
	}
	loop.Wait()
	if ctx.Err() == nil { // the listener failed
		return fmt.Errorf("serve: %w", context.Cause(serving))
	}
	return err
}

// AcceptsGzip reports whether Accept-Encoding names gzip and does not refuse it.
func AcceptsGzip(r *http.Request) bool {
	for _, h := range r.Header.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(strings.ToLower(h), ",") {
			name, q, _ := strings.Cut(coding, ";")
			q = strings.TrimRight(strings.TrimSpace(q), "0.") // a weight of zero may be written q=0.000
			if strings.TrimSpace(name) == "gzip" && q != "q=" {
				return true
			}
		}
	}
	return false
}
