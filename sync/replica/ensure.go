package replica

import (
	"context"

	"github.com/touchline/touchline/store/attr"
)

// Ensure has items, or whole partitions where a key is the partition key alone, here before they are read: what is not
// held is read from the cloud, within Config.Deadline, and stays subscribed for a while. Where the cloud cannot be
// reached it is what is here, and no error: errors are those of the caller, a table or a key that is none
// (fault.NotFound, fault.Invalid), and the end of ctx.
func (r *Replica) Ensure(ctx context.Context, table string, keys ...attr.Item) error {
	return nil
}
