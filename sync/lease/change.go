package lease

import (
	"hash/fnv"
	"maps"

	"github.com/touchline/touchline/store/attr"
)

// This file holds every expression that is sent to a locks table, in one form for all engines.

// taking is the update of whoever takes a lock. A fence that starts anew, because the record was deleted or never
// had one, starts at the time: above whatever it was before.
const taking = "SET holder = :me, expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :none, " +
	"fence = if_not_exists(fence, :start) + :one"

// The ways to take a lock.
const (
	ifFree   = "attribute_not_exists(lockKey) OR expiresAt = :zero"
	ifOurs   = "holder = :h AND fence = :f"
	ifStill  = "rvn = :seen AND holder = :h AND expiresAt = :e"
	ifLapsed = "attribute_not_exists(rvn) AND expiresAt < :now AND expiresAt = :seen AND holder = :h"
)

// What a holder does with its lock. Not conditional on rvn: after a lost answer the holder does not know it. Renewals are
// numbered instead: a late copy of one would put back rvn and expiresAt that another node has seen, to which the lock
// would then have stood still since.
const (
	ifHeld    = "holder = :me AND fence = :f"
	ifNewer   = ifHeld + " AND (attribute_not_exists(renewals) OR renewals < :n)"
	renewing  = "SET expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :n"
	raising   = "SET fence = :to, rvn = :rvn"
	releasing = "SET expiresAt = :zero, rvn = :rvn"
)

// take builds the change by which this node takes a lock under a condition with values of its own.
func (m *Manager) take(key, condition string, values attr.Item, now Instant) Change {
	all := attr.Item{
		":me":      attr.S(m.me),
		":expires": attr.Int(m.serverMillis(now) + m.ttl.Milliseconds()),
		":rvn":     attr.S(m.rvn()),
		":ttl":     attr.Int(m.ttl.Milliseconds()),
		":start":   attr.Int(m.firstFence(now)),
		":one":     attr.Int(1),
		":none":    attr.Int(0),
	}
	maps.Copy(all, values)
	return Change{Key: key, Update: taking, Condition: condition, Values: all}
}

// firstFence is where a fence begins that has no record: at the server's milliseconds, with three digits of the holder's name
// behind. Two that take a lock in one millisecond, or in the second that is all a server's Date tells, because its record was
// deleted twice, must not have the same.
func (m *Manager) firstFence(now Instant) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.me))
	return m.serverMillis(now)*1000 + int64(h.Sum32()%1000)
}

// held builds a change of a lock that this node holds.
func (m *Manager) held(key string, fence int64, update string, values attr.Item) Change {
	all := attr.Item{":me": attr.S(m.me), ":f": attr.Int(fence), ":rvn": attr.S(m.rvn())}
	maps.Copy(all, values)
	return Change{Key: key, Update: update, Condition: ifHeld, Values: all}
}

// renewal builds the n-th renewal under a fence.
func (m *Manager) renewal(key string, fence, n int64, now Instant) Change {
	c := m.held(key, fence, renewing, attr.Item{
		":expires": attr.Int(m.serverMillis(now) + m.ttl.Milliseconds()),
		":ttl":     attr.Int(m.ttl.Milliseconds()),
		":n":       attr.Int(n),
	})
	c.Condition = ifNewer
	return c
}

func (m *Manager) raise(key string, fence, to int64) Change {
	return m.held(key, fence, raising, attr.Item{":to": attr.Int(to)})
}

func (m *Manager) release(key string, fence int64) Change {
	return m.held(key, fence, releasing, attr.Item{":zero": attr.Int(0)})
}
