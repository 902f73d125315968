package dynamoapi

import (
	"context"
	"net/http"
)

// describeEndpoints answers endpoint discovery with the host that the client called. That can differ from the listening address behind
// a forwarded port.
type describeEndpoints struct{ nothingAsked }

// endpointMinutes is how long a client may cache the address.
const endpointMinutes = 1440

func (describeEndpoints) run(c *call) error {
	address, ok := c.Value(hostKey{}).(string)
	if !ok || address == "" {
		address = "localhost"
	}
	c.out.NamedArray("Endpoints")
	c.out.Begin()
	c.out.NamedText("Address", address)
	c.out.NamedInt("CachePeriodInMinutes", endpointMinutes)
	c.out.End()
	c.out.EndArray()
	return nil
}

type hostKey struct{}

// withHost returns the context of a request, with the called host if the operation needs it.
func withHost(r *http.Request, operation string) context.Context {
	if operation != "DescribeEndpoints" {
		return r.Context()
	}
	return context.WithValue(r.Context(), hostKey{}, r.Host)
}

// describeLimits returns an account's quotas. Nothing is limited here: the numbers are those of a new account.
type describeLimits struct{ nothingAsked }

func (describeLimits) run(c *call) error {
	c.out.NamedInt("AccountMaxReadCapacityUnits", 80_000)
	c.out.NamedInt("AccountMaxWriteCapacityUnits", 80_000)
	c.out.NamedInt("TableMaxReadCapacityUnits", 40_000)
	c.out.NamedInt("TableMaxWriteCapacityUnits", 40_000)
	return nil
}
