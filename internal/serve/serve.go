// Package serve runs an HTTP server to an orderly end.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Until answers on ln until ctx ends, which is no error. Then ending is called, unless it is nil, and requests that have begun are
// finished; what takes longer than drain is cut off, which the server's ErrorLog tells. A server that ends by itself is an error.
func Until(ctx context.Context, srv *http.Server, ln net.Listener, drain time.Duration, ending func()) error {
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
	if ctx.Err() == nil { // the listener broke
		return fmt.Errorf("serve: %w", context.Cause(serving))
	}
	return err
}
