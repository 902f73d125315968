package simcloud

import (
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
)

// Locks returns the locks table of that name as leases see it, over this link.
func (l *Link) Locks(table string) lease.Table { return dynamo.LocksOf(l, table) }
