package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin" //nolint:depguard // the floor is gin itself, and ours stands behind it

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// server is a minimal gin server over a store. The node has no route for items of arbitrary tables; this is the least that one would
// cost.
type server struct {
	s    *store.Store
	bufs sync.Pool
}

const jsonType = "application/x-amz-json-1.0"

func (sv *server) handler() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET("/hello", func(c *gin.Context) { c.Data(http.StatusOK, "text/plain", []byte("hello")) })
	e.GET("/items/:match/:ball", sv.get)
	e.GET("/items/:match", sv.query)
	e.PUT("/items", sv.put)
	return e
}

// serveStore serves a store until ctx ends, and returns the address.
func serveStore(ctx context.Context, s *store.Store) (addr string, err error) {
	sv := &server{s: s, bufs: sync.Pool{New: func() any {
		buf := make([]byte, 0, 32<<10)
		return &buf
	}}}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := &http.Server{Handler: sv.handler(), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	go func() { _ = srv.Serve(ln) }() // clients notice its end
	return ln.Addr().String(), nil
}

// answer sends what read appends to a buffer.
func (sv *server) answer(c *gin.Context, read func(tx *store.Tx, dst []byte) ([]byte, error)) {
	buf := sv.bufs.Get().(*[]byte)
	defer sv.bufs.Put(buf)
	err := sv.s.View(c.Request.Context(), func(tx *store.Tx) (err error) {
		*buf, err = read(tx, (*buf)[:0])
		return err
	})
	if err != nil {
		c.String(http.StatusInternalServerError, "%v", err)
		return
	}
	c.Header("Content-Length", strconv.Itoa(len(*buf))) // avoids a chunked answer
	c.Data(http.StatusOK, jsonType, *buf)
}

func (sv *server) get(c *gin.Context) {
	sv.answer(c, func(tx *store.Tx, dst []byte) ([]byte, error) {
		ball, err := attr.N(c.Param("ball"))
		if err != nil {
			return dst, err
		}
		return getJSON(tx, attr.Item{"match": attr.S(c.Param("match")), "ball": ball}, dst)
	})
}

func (sv *server) query(c *gin.Context) {
	sv.answer(c, func(tx *store.Tx, dst []byte) ([]byte, error) {
		match, err := strconv.Atoi(strings.TrimPrefix(c.Param("match"), "match-"))
		if err != nil {
			return dst, err
		}
		from, err := strconv.Atoi(c.Query("from"))
		if err != nil {
			return dst, err
		}
		to, err := strconv.Atoi(c.Query("to"))
		if err != nil {
			return dst, err
		}
		return queryJSON(tx, match, from, to, dst)
	})
}

func (sv *server) put(c *gin.Context) {
	body, err := io.ReadAll(c.Request.Body)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	it, err := attr.ParseJSON(body)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	err = sv.s.Update(c.Request.Context(), func(tx *store.Tx) error { return putItem(tx, it) })
	if err != nil {
		c.String(http.StatusInternalServerError, "%v", err)
		return
	}
	c.Data(http.StatusOK, jsonType, []byte("{}"))
}
