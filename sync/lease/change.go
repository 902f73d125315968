package lease

import (
	"hash/fnv"
	"maps"

	"github.com/touchline/touchline/store/attr"
)

// This file holds every expression sent to a locks table; all engines get the same text.

// taking is the update that acquires a lock. DynamoDB has no max() in an update, so the fence is computed here from the record as it was
// read, and each condition under which a lock is taken repeats the fence that was read.
const taking = "SET holder = :me, expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :none, fence = :fence"

// Conditions under which a lock may be acquired. A record that the original application made has no fence; it counts as 0.
const (
	ifFenceIs = "(attribute_not_exists(fence) OR fence = :was)"
	ifFree    = "attribute_not_exists(lockKey) OR (expiresAt = :zero AND " + ifFenceIs + ")"
	ifOurs    = "holder = :h AND " + ifFenceIs
	ifStill   = "rvn = :seen AND holder = :h AND expiresAt = :e AND " + ifFenceIs
	ifLapsed  = "attribute_not_exists(rvn) AND expiresAt < :now AND expiresAt = :seen AND holder = :h AND " + ifFenceIs
)

// What a holder does with its lock. These are not conditional on rvn: after a lost answer the holder does not know it. Renewals are
// numbered instead. Without the number, a late copy of renewal 3 arriving after renewal 4 would restore an rvn and expiresAt that
// another node has already seen, and the lock would seem not to have moved since.
const (
	ifHeld    = "holder = :me AND fence = :f"
	ifNewer   = ifHeld + " AND (attribute_not_exists(renewals) OR renewals < :n)"
	renewing  = "SET expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :n"
	raising   = "SET fence = :to, rvn = :rvn"
	releasing = "SET expiresAt = :zero, rvn = :rvn"
)

// acquisition builds the change that acquires a lock for this node, given its record as it was read (zero: none), under the given condition and
// its values.
func (m *Manager) acquisition(key string, was *Record, seen seenFences, condition string, values attr.Item, now Instant) Change {
	all := attr.Item{
		":me":      attr.S(m.me),
		":expires": attr.Int(m.serverMillis(now) + m.ttl.Milliseconds()),
		":rvn":     attr.S(m.rvn()),
		":ttl":     attr.Int(m.ttl.Milliseconds()),
		":was":     attr.Int(was.Fence),
		":fence":   attr.Int(m.nextFence(was.Fence, seen, now)),
		":none":    attr.Int(0),
	}
	maps.Copy(all, values)
	return Change{Key: key, Update: taking, Condition: condition, Values: all}
}

// nextFence returns the fence of a new holder. It is above the record's, which suffices unless the record was deleted or the table restored;
// above what the time gives, which is above the fences of all holders whose clocks were right; and above all that this node has seen.
func (m *Manager) nextFence(was int64, seen seenFences, now Instant) int64 {
	return max(was+1, m.firstFence(now), seen.highest()+1, 1)
}

// firstFence returns the fence that the time gives: the server's milliseconds followed by three digits derived from the holder's name. If a
// record is deleted twice, two nodes may acquire the lock in the same millisecond (or the same second, the resolution of a server's Date
// header); the digits keep their fences apart.
func (m *Manager) firstFence(now Instant) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.me))
	return m.serverMillis(now)*1000 + int64(h.Sum32()%1000)
}

// changeHeld builds a change to a lock that this node holds.
func (m *Manager) changeHeld(key string, fence int64, update string, values attr.Item) Change {
	all := attr.Item{":me": attr.S(m.me), ":f": attr.Int(fence), ":rvn": attr.S(m.rvn())}
	maps.Copy(all, values)
	return Change{Key: key, Update: update, Condition: ifHeld, Values: all}
}

// renewal builds the n-th renewal under the given fence.
func (m *Manager) renewal(key string, fence, n int64, now Instant) Change {
	c := m.changeHeld(key, fence, renewing, attr.Item{
		":expires": attr.Int(m.serverMillis(now) + m.ttl.Milliseconds()),
		":ttl":     attr.Int(m.ttl.Milliseconds()),
		":n":       attr.Int(n),
	})
	c.Condition = ifNewer
	return c
}

func (m *Manager) raise(key string, fence, to int64) Change {
	return m.changeHeld(key, fence, raising, attr.Item{":to": attr.Int(to)})
}

func (m *Manager) release(key string, fence int64) Change {
	return m.changeHeld(key, fence, releasing, attr.Item{":zero": attr.Int(0)})
}
