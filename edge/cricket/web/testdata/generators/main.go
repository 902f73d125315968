// A program that uses the generated client: it requests a node's matches, and one that does not exist.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server string) error {
	c, err := NewClientWithResponses(server, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer somebody")
		return nil
	}))
	if err != nil {
		return err
	}
	all, err := c.ListMatchesWithResponse(ctx, nil)
	if err != nil {
		return err
	}
	for _, m := range all.JSON200.Items {
		fmt.Println(m.Id, m.Phase)
	}
	none, err := c.GetMatchWithResponse(ctx, "nothing")
	if err != nil {
		return err
	}
	fmt.Println(none.StatusCode(), none.JSON404.Error.Code)
	return nil
}
