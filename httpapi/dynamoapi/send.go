package dynamoapi

import (
	"bytes"
	"crypto/rand"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const contentType = "application/x-amz-json-1.0"

// gzipFrom is the size from which an answer is packed, for a client that takes it so.
const gzipFrom = 1 << 10

// versions are the two halves of the API as requests name them.
const (
	versionTables  = "DynamoDB_20120810"
	versionStreams = "DynamoDBStreams_20120810"
)

// target is the operation that a request names.
func target(r *http.Request) (operation string, err error) {
	version, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !ok || version != versionTables && version != versionStreams {
		return "", refuse(ofCoral+"UnknownOperationException", "")
	}
	return operation, nil
}

// send writes an answer. The checksum is of what goes over the wire: packed, if it is packed.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	if len(body) >= gzipFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = packed(body)
		h["Content-Encoding"] = []string{"gzip"}
	}
	h["X-Amzn-Requestid"] = []string{rand.Text() + rand.Text()} // 52 letters and digits, as the service's
	h["X-Amz-Crc32"] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}

// packed packs a whole answer at once. The other levels keep a state, of which each writer makes a megabyte.
func packed(body []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.StatelessCompression) // the level is one that there is
	_, _ = z.Write(body)                                         // into memory
	_ = z.Close()
	return out.Bytes()
}
