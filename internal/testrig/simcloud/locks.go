package simcloud

import (
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
)

// Locks returns the named locks table as a lease.Table over this link.
func (l *Link) Locks(table string) lease.Table { return dynamo.LocksOf(l, table) }
