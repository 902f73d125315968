package dynamoapi

import (
	"net"
	"net/http"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// describeEndpoints tells a client that discovers endpoints to stay where it is: the address is the one it has reached.
type describeEndpoints struct{}

func (describeEndpoints) field(d *wire.Decoder, _ string) error { return d.Skip() }
func (describeEndpoints) constrain(*constraints)                {}
func (describeEndpoints) touches(func(action, table string))    {}

// endpointMinutes is how long a client may remember the address.
const endpointMinutes = 1440

func (describeEndpoints) run(c *call) error {
	address := "localhost"
	if at, ok := c.Value(http.LocalAddrContextKey).(net.Addr); ok {
		address = at.String()
	}
	c.out.Name("Endpoints")
	c.out.BeginArray()
	c.out.Begin()
	c.out.NamedText("Address", address)
	c.out.NamedInt("CachePeriodInMinutes", endpointMinutes)
	c.out.End()
	c.out.EndArray()
	return nil
}
