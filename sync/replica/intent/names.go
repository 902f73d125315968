package intent

import (
	"strconv"

	"github.com/touchline/touchline/store/attr"
)

// The attributes of the rows in the table of our own (Env.SyncTable), and of those of the locks table that we read.
const (
	SyncKey   = "id"  // partition key, a string: NodeID, DeadID, TxnID
	SyncTTL   = "ttl" // epoch seconds
	syncState = "state"
	lockKey   = "lockKey"
	lockFence = "fence"
)

// NodeID is the key of a node's row.
func NodeID(node string) string { return "node:" + node }

// DeadID is the key of the tombstone of a life.
func DeadID(life string) string { return "dead#" + life }

// TxnID is the key of the proof of a transaction, by the write id of its first entry.
func TxnID(writeID string) string { return "txn#" + writeID }

// WriteID names an entry in the cloud: node, incarnation, sequence.
func WriteID(node string, seq uint64) string {
	return node + "." + strconv.FormatUint(seq>>incarnationShift, 10) + "." + strconv.FormatUint(seq, 10)
}

// incarnationShift: a sequence is its incarnation and a counter (store).
const incarnationShift = 40

func (e *Entry) writeID(node string) string { return WriteID(node, e.Seq) }

// Mark is what the entry leaves on an item: its sequence, and digits behind the point.
func (e *Entry) Mark() attr.Value { return attr.Value{} }
