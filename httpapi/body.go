package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// writeBody answers with JSON.
func writeBody(c *gin.Context, status int, contentType string, v any) {
	body, err := json.Marshal(v)
	if err != nil { // of our own structs: a bug
		_ = c.Error(fmt.Errorf("encode answer: %w", err))
		c.Status(http.StatusInternalServerError)
		return
	}
	c.Data(status, contentType, body)
}

// answerWith answers a change with what came of it.
func answerWith(c *gin.Context, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	c.Header("Cache-Control", "no-store")
	c.Data(accepted(c, status), jsonType, body)
	return nil
}

// noContent answers that something is gone, or done.
func noContent(c *gin.Context) error {
	c.Header("Cache-Control", "no-store")
	c.Status(accepted(c, http.StatusNoContent))
	c.Writer.WriteHeaderNow()
	return nil
}

const jsonType = "application/json; charset=utf-8"

// writeJSON answers a read with JSON, its strong ETag, and 304 when the client has it already. Every answer must be
// asked for again: what is right now may be wrong in two seconds.
func writeJSON(c *gin.Context, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	writeTagged(c, jsonType, body)
	return nil
}

func writeTagged(c *gin.Context, contentType string, body []byte) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	c.Header("ETag", tag)
	c.Header("Cache-Control", "no-cache")
	if _, known := identityOf(c); known {
		c.Header("Cache-Control", "private, no-cache")
	}
	if matches(c.Request.Header.Values("If-None-Match"), tag) {
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return
	}
	c.Data(http.StatusOK, contentType, body)
}

// matches reads If-None-Match as RFC 9110 says: a list, compared weakly, or a star.
func matches(headers []string, tag string) bool {
	for _, h := range headers {
		for one := range strings.SplitSeq(h, ",") {
			one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
			if one == tag || one == "*" {
				return true
			}
		}
	}
	return false
}
