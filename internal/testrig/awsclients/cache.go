package awsclients

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/touchline/touchline/internal/testrig/cache"
)

// cached returns a filled folder of the cache, identified by name and pins.
func cached(ctx context.Context, name string, pins []string, fill func(ctx context.Context, dir string) error) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(pins, "\x00")))
	return cache.Folder(ctx, name+"-"+hex.EncodeToString(sum[:6]), fill)
}
