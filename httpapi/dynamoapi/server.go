package dynamoapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/rebind"
	"github.com/touchline/touchline/internal/serve"
)

// Limits of a connection.
const (
	readHeaderWithin = 5 * time.Second
	readWithin       = 30 * time.Second // enough for 16 MB over a slow connection
	answerWithin     = 60 * time.Second
	idleFor          = 5 * time.Minute // clients keep connections in a pool
	drainFor         = 10 * time.Second
	maxHeader        = 16 << 10 // net/http accepts slightly more, which checkForm refuses

	// DefaultConnections is the default limit of open connections.
	DefaultConnections = 8192
)

// Run serves on ln until ctx ends, which is not an error. Requests in progress may finish, within a limit.
func (a *API) Run(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: rebind.Guard(ln, a.byTLS(a), elsewhere), ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleFor, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(a.cfg.Logger.Handler(), slog.LevelDebug),
	}
	guarded := connlimit.New(connlimit.Config{Port: "dynamodb", Most: a.cfg.MaxConnections, Log: a.cfg.Logger}).Guard(srv, ln)
	if a.cfg.TLS != nil {
		srv.TLSConfig = a.cfg.TLS
		guarded = certs.Listen(guarded, a.cfg.TLS)
	}
	return serve.RunServer(ctx, srv, guarded, drainFor, nil)
}

// byTLS refuses plain HTTP from other machines if the port uses TLS. Programs cannot be redirected, because their signature covers the
// address that they called.
func (a *API) byTLS(h http.Handler) http.Handler {
	if a.cfg.TLS == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil && !fromLoopback(r) {
			e := refuseWith(http.StatusForbidden, ofCoral+"AccessDeniedException", "this endpoint answers other machines by https:// only")
			send(w, r, e.Status, e.Wire())
			return
		}
		h.ServeHTTP(w, r)
	})
}

// elsewhere refuses a request addressed to another machine's name, with the model's error for that.
func elsewhere(w http.ResponseWriter, r *http.Request) {
	e := refuseWith(http.StatusMisdirectedRequest, ofModel+"InvalidEndpointException", rebind.Refusal)
	send(w, r, e.Status, e.Wire())
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/" {
		a.health(w)
		return
	}
	began := a.cfg.Now()
	out := a.encoders.get()
	defer a.encoders.put(out)
	operation, err := a.serve(w, r, out)
	if errors.Is(err, errDropped) {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	status := http.StatusOK
	var refused *Error
	if err != nil {
		refused = a.refusal(err)
		out.Reset()
		refused.write(out)
		status = refused.Status
	}
	a.recordRequest(r, operation, refused, a.cfg.Now().Sub(began))
	if refused != nil {
		defer drainBehind(w, r)()
	}
	send(w, r, status, out.Bytes())
}

// health is the service's answer to a health check.
func (a *API) health(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintf(w, "healthy: dynamodb.%s.amazonaws.com ", region) // the client may have left
}

// serve runs a request. After an error the contents of out are invalid.
func (a *API) serve(w http.ResponseWriter, r *http.Request, out *wire.Encoder) (operation string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if r.URL.Path == resetPath {
		return "", a.reset(w, r, out)
	}
	if err := checkForm(r); err != nil {
		return "", err
	}
	body, err := a.bodies.read(r, a.cfg.Verifier != nil)
	if err != nil {
		return "", err
	}
	defer a.bodies.held.Add(-body.held)
	who, err := a.cfg.Verifier.Verify(r, body.hash)
	if err != nil {
		return "", err
	}
	if a.cfg.Verifier != nil {
		connlimit.MarkUser(r.Context(), "")
	}
	if operation, err = target(r); err != nil {
		return "", err
	}
	return operation, a.answer(withHost(r, operation), who, operation, body.text, out)
}

// recordRequest counts and logs a request.
func (a *API) recordRequest(r *http.Request, operation string, refused *Error, took time.Duration) {
	a.count(operation, refused, took)
	log, ctx := a.cfg.Logger, r.Context()
	switch {
	case refused == nil:
		if log.Enabled(ctx, slog.LevelDebug) {
			log.DebugContext(ctx, "request", "operation", operation, "key", sigv4.AccessKey(r), "took", took)
		}
	case refused.Status >= http.StatusInternalServerError && refused.cause != nil: // not an injected fault
		log.ErrorContext(ctx, "request failed", "operation", operation, "type", refused.name(), "took", took, "err", refused.cause)
	default:
		if log.Enabled(ctx, slog.LevelDebug) {
			log.DebugContext(ctx, "request refused", "operation", operation, "key", sigv4.AccessKey(r), "type", refused.name(), "message", refused.Message, "took", took)
		}
	}
}

// encoders are reused, except large ones.
type encoders struct{ pool sync.Pool }

// maxKept is the size in bytes up to which a buffer is reused.
const maxKept = 64 << 10

func (e *encoders) get() *wire.Encoder {
	if out, ok := e.pool.Get().(*wire.Encoder); ok {
		return out
	}
	return wire.NewEncoder(make([]byte, 0, 4096))
}

func (e *encoders) put(out *wire.Encoder) {
	if cap(out.Bytes()) > maxKept {
		return
	}
	out.Reset()
	e.pool.Put(out)
}

const contentType = "application/x-amz-json-1.0"

// gzipFrom is the size in bytes from which answers are compressed, if the client accepts it.
const gzipFrom = 1 << 10

// Names of the API's two halves in requests.
const (
	versionTables  = "DynamoDB_20120810"
	versionStreams = "DynamoDBStreams_20120810"
)

// target returns the operation that a request names.
func target(r *http.Request) (operation string, err error) {
	version, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !ok || version != versionTables && version != versionStreams {
		return "", refuse(ofCoral+"UnknownOperationException", "")
	}
	return operation, nil
}

// send writes an answer. The checksum covers the bytes sent, compressed or not.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	if len(body) >= gzipFrom && serve.AcceptsGzip(r) {
		body = compressAnswer(body)
		h["Content-Encoding"] = []string{"gzip"}
	}
	h["X-Amzn-Requestid"] = []string{rand.Text() + rand.Text()} // 52 letters and digits, like the service's
	h["X-Amz-Crc32"] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left
}

// compressAnswer compresses an answer in one go. Other levels keep a state of about a megabyte per writer.
func compressAnswer(body []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.StatelessCompression) // the level is valid
	_, _ = z.Write(body)                                         // into memory
	_ = z.Close()
	return out.Bytes()
}
