package edge

import (
	"log/slog"
	"strings"
	"testing"
)

// Scarce open files are divided between the ports, and the log says so.
func TestConnections(t *testing.T) {
	for _, tt := range []struct {
		files          int
		dynamodb       string
		wantHTTP, want int
		told           string
	}{
		{1 << 20, "127.0.0.1:8000", 9216, 8192, ""},
		{-1, "127.0.0.1:8000", 9216, 8192, ""},
		{64, "", 40, 0, "files=64 connections=40 wanted=9216"},
		{64, "127.0.0.1:8000", 21, 18, "files=64 connections=39 wanted=17408"},
	} {
		var told strings.Builder
		c := DefaultConfig()
		c.DynamoDB.Listen = tt.dynamodb
		http, dynamodb := c.connections(tt.files, slog.New(slog.NewTextHandler(&told, nil)))
		if http != tt.wantHTTP || dynamodb != tt.want || !strings.Contains(told.String(), tt.told) || (told.Len() > 0) != (tt.told != "") {
			t.Errorf("%d files: %d and %d connections, told %q", tt.files, http, dynamodb, told.String())
		}
	}
}
