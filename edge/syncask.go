package edge

import (
	"errors"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/fault"
)

// Ask asks the node with its data in dir, which must be running.
func Ask[T any](dir string, ask func(*admin.Client) (T, error)) (out T, err error) {
	if _, err := node.Database(dir); err != nil {
		return out, err
	}
	client, err := node.Ask(dir)
	if err != nil {
		return out, err
	}
	out, err = ask(client)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == "no_admin" {
		err = fault.Wrap(err, fault.Unavailable, "no_node", "no node is running with the data in %s (touchline serve starts one)", dir)
	}
	return out, err
}
