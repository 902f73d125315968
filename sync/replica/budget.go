package replica

import "time"

// Budget bounds what may wait for the cloud. A zero field has the default.
type Budget struct {
	Bytes   int64         // of entries in the outbox; 0: 2 GiB
	Entries int64         // 0: 5,000,000
	Age     time.Duration // of the oldest entry; 0: 7 days
	Free    int64         // free disk bytes below which the node counts as full; 0: 64 MiB
	Replay  int64         // bytes of the replay log; 0: 256 MiB
}

func (b Budget) withDefaults() Budget {
	return b
}

type (
	outbox  struct{}
	network struct{}
	paces   struct{}
	levels  struct{}
	waiters struct{}
	lane    struct{}
)
