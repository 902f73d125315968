package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

func localRequest(kind string, n int, it attr.Item) []byte {
	return nil
}

func measureLocal(ctx context.Context, b *bench) error {
	for _, t := range targets {
		if strings.HasPrefix(t.id, "local/") {
			b.missing(t.id, "no Java")
		}
	}
	_ = fmt.Sprint
	return ctx.Err()
}
