package dynamo

import (
	"math"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/sync/replica/remote"
)

// usage is a growing remote.Usage. It counts tenths: capacity comes in half units, so integers are exact.
type usage struct{ asked, writes, reads atomic.Int64 }

func (u *usage) countWrite(c *types.ConsumedCapacity) { u.writes.Add(tenths(c)) }
func (u *usage) read(c *types.ConsumedCapacity)       { u.reads.Add(tenths(c)) }

func tenths(c *types.ConsumedCapacity) int64 {
	if c == nil || c.CapacityUnits == nil {
		return 0
	}
	return int64(math.Round(*c.CapacityUnits * 10))
}

// Usage returns what this client has used since it was created. Refused writes cost capacity too, but DynamoDB does not say how much.
func (c *Client) Usage() remote.Usage {
	return remote.Usage{
		Requests:   c.usage.asked.Load(),
		WriteUnits: float64(c.usage.writes.Load()) / 10,
		ReadUnits:  float64(c.usage.reads.Load()) / 10,
	}
}
