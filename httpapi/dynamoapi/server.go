package dynamoapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// The limits of a connection and of a request.
const (
	readHeaderWithin = 5 * time.Second
	readWithin       = 30 * time.Second
	answerWithin     = 60 * time.Second
	idleFor          = 5 * time.Minute
	drainFor         = 10 * time.Second
	maxHeader        = 16 << 10
	maxBody          = 16 << 20 // of a request, as in DynamoDB, also when it is unpacked
	maxConnections   = 8192
	gzipFrom         = 1 << 10 // smaller answers are not worth it
)

const contentType = "application/x-amz-json-1.0"

// Run serves on ln until ctx ends, which is no error. Requests that have begun are finished, within a limit.
func (a *API) Run(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: a, ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleFor, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(a.cfg.Logger.Handler(), slog.LevelDebug),
	}
	serving, served := context.WithCancelCause(ctx)
	var loop sync.WaitGroup
	loop.Go(func() { served(srv.Serve(ln)) })
	<-serving.Done()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	err := srv.Shutdown(within)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	loop.Wait()
	if ctx.Err() == nil { // it ended by itself: the listener broke
		return fmt.Errorf("serve: %w", context.Cause(serving))
	}
	return err
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Amzn-Requestid", rand.Text()+rand.Text())
	out := a.encoder()
	defer a.done(out)
	status, err := a.serve(w, r, out)
	if err != nil {
		a.tell(r, err)
		out.Rewind(wire.Mark{})
		err.write(out)
		status = err.Status
	}
	a.send(w, r, status, out.Bytes())
}

// serve runs the request. After an error nothing of the answer counts.
func (a *API) serve(w http.ResponseWriter, r *http.Request, out *wire.Encoder) (status int, refused *Error) {
	defer func() {
		if v := recover(); v != nil {
			refused = a.refusal(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	body, err := a.body(w, r)
	if err != nil {
		return 0, err
	}
	operation, err := target(r)
	if err != nil {
		return 0, err
	}
	if err := a.answer(r.Context(), operation, body, out); err != nil {
		return 0, a.refusal(err)
	}
	return http.StatusOK, nil
}

// target is the operation that a request names.
func target(r *http.Request) (string, *Error) {
	version, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if ok && (version == "DynamoDB_20120810" || version == "DynamoDBStreams_20120810") {
		return operation, nil
	}
	return "", refuse(ofCoral+"UnknownOperationException", "")
}

// body reads the request.
func (a *API) body(w http.ResponseWriter, r *http.Request) (string, *Error) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Method != http.MethodPost || media != contentType && media != "application/json" {
		e := refuse(ofCoral+"UnknownOperationException", "")
		e.Status = http.StatusNotFound
		return "", e
	}
	var from io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return "", refuse(ofCoral+"SerializationException", "The body is not gzip")
		}
		from = io.LimitReader(unpacked, maxBody+1)
	}
	var text strings.Builder
	if r.ContentLength > 0 && r.ContentLength <= maxBody {
		text.Grow(int(r.ContentLength))
	}
	n, err := io.Copy(&text, from)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || n > maxBody {
		e := refuse(ofCoral+"RequestEntityTooLargeException", "Request size exceeded the maximum of %d bytes", maxBody)
		e.Status = http.StatusRequestEntityTooLarge
		return "", e
	}
	if err != nil {
		return "", refuse(ofCoral+"SerializationException", "The body could not be read")
	}
	return text.String(), nil
}

// send writes the answer. The checksum is of what is sent: packed, if it is packed.
func (a *API) send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	if len(body) >= gzipFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // the level is a known one
		_, _ = z.Write(body)                                 // into memory
		_ = z.Close()
		body = packed.Bytes()
		h["Content-Encoding"] = []string{"gzip"}
	}
	h["X-Amz-Crc32"] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone
}

// tell logs what is the node's fault.
func (a *API) tell(r *http.Request, e *Error) {
	if e.Status < http.StatusInternalServerError {
		return
	}
	a.cfg.Logger.Error("a DynamoDB request failed", "operation", r.Header.Get("X-Amz-Target"), "error", e.name(), "err", e.cause)
}

func (a *API) encoder() *wire.Encoder { return wire.NewEncoder(make([]byte, 0, 4096)) }
func (a *API) done(*wire.Encoder)     {}
