package replica

import (
	"context"

	"github.com/touchline/touchline/store/attr"
)

// Until they are written in the files of feed and identity.

// replaying tells that the cloud was restored and not all nodes have replayed.
func (r *Replica) replaying() bool { return false }

// pastOf is settledOf as it was known 15 minutes ago.
func (r *Replica) pastOf(node string) uint64 { return 0 }

// refresh reads an item consistently and takes what it finds.
func (r *Replica) refresh(ctx context.Context, table string, key attr.Item) error { return nil }

func (r *Replica) feedStatus() []FeedStatus { return nil }

func (r *Replica) bootID() string { return "" }

func (r *Replica) stoppedWhy() string { return "" }
