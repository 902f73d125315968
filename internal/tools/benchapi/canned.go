package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin" //nolint:depguard // the floor is gin itself

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/attr"
)

// answer is a prepared body and its headers.
type answer struct {
	body        string
	length, sum []string
}

// serveCanned answers with bodies of the size of real answers, until ctx ends.
func serveCanned(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{Handler: canned(), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func canned() http.Handler {
	row := string(attr.AppendJSON(nil, measure.MakeItem(0, 0, 0)))
	rows := strings.TrimSuffix(strings.Repeat(row+",", measure.QueryItems), ",")
	answers := map[string]answer{}
	for name, body := range map[string]string{
		"GetItem":        `{"Item":` + row + `}`,
		"Query":          fmt.Sprintf(`{"Count":%d,"Items":[%s],"ScannedCount":%[1]d}`, measure.QueryItems, rows),
		"BatchWriteItem": `{"UnprocessedItems":{}}`,
		"":               `{}`,
	} {
		answers["DynamoDB_20120810."+name] = answer{
			body: body, length: []string{strconv.Itoa(len(body))},
			sum: []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10)},
		}
	}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET("/hello", func(c *gin.Context) { c.Data(http.StatusOK, "text/plain", []byte("hello")) })
	e.POST("/", gin.WrapF(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		a, known := answers[r.Header.Get("X-Amz-Target")]
		if !known {
			a = answers["DynamoDB_20120810."]
		}
		h := w.Header()
		h["Content-Type"] = []string{"application/x-amz-json-1.0"}
		h["Content-Length"], h["X-Amz-Crc32"] = a.length, a.sum
		h["X-Amzn-Requestid"] = []string{"J2C0T3JDRG0000000000000000VV4KQNSO5AEMVJF66Q9ASUAAJG"}
		_, _ = io.WriteString(w, a.body)
	}))
	return e
}
