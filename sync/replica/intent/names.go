package intent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// The attributes of the rows in the table of our own (Env.SyncTable), and of those of the locks table that we read.
const (
	SyncKey    = "id"  // partition key, a string: NodeID, DeadID, MovedID, MadeID, TxnID
	SyncTTL    = "ttl" // epoch seconds
	syncClosed = "closed"
	syncMoved  = "moved" // of a closed MadeID: to another life
	syncMark   = "mark"  // of a MadeID: the entry's
	lockKey    = "lockKey"
	lockFence  = "fence"
)

// NodeID is the key of a node's row.
func NodeID(node string) string { return "node:" + node }

// DeadID is the key of the tombstone of a life.
func DeadID(life string) string { return "dead#" + life }

// MovedID is the key of the row which tells that a create has gone to another life than the one it was to begin.
func MovedID(life string) string { return "moved#" + life }

// MadeID is the key of the proof that a life was begun by a create, or, closed, that it never will be.
func MadeID(life string) string { return "made#" + life }

// TxnID is the key of the proof of a transaction, by the write id of its first entry.
func TxnID(writeID string) string { return "txn#" + writeID }

// incarnationShift: a sequence is its incarnation and a counter (store).
const incarnationShift = 40

// WriteID names an entry in the cloud: node, incarnation, sequence.
func WriteID(node string, seq uint64) string {
	return node + "." + strconv.FormatUint(seq>>incarnationShift, 10) + "." + strconv.FormatUint(seq, 10)
}

func (e *Entry) writeID(node string) string { return WriteID(node, e.Seq) }

// lifeID names the life that a create begins. What was folded into it may have been sent by itself, or within another, in a
// timeline that is lost: the first of them is the same in all.
func (e *Entry) lifeID(node string) string {
	if e.Begun != 0 {
		return WriteID(node, e.Begun)
	}
	return e.writeID(node)
}

// maker returns the node and the sequence of the entry that began a life; false for a life that no node of ours began.
func maker(life string) (node string, seq uint64, ok bool) {
	if life == "" || foreign(life) {
		return "", 0, false
	}
	at := strings.LastIndexByte(life, '.')
	if at < 0 {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(life[at+1:], 10, 64)
	at = strings.LastIndexByte(life[:at], '.')
	if err != nil || at < 0 {
		return "", 0, false
	}
	return life[:at], seq, true
}

// foreignSign begins the label of a life that no node of ours made.
const foreignSign = "~"

// label names a foreign life on which the entry is the first of ours to write. It has the instant of the send: an earlier send may
// have named a life that a foreign Put has ended since, and whoever has written on that one would take this one for it.
func (e *Entry) label(env Env) string {
	return foreignSign + e.writeID(env.Node) + "." + strconv.FormatInt(env.Now.UnixMilli(), 36)
}

// labels reports whether a label is one that the entry gives; earlier versions gave it without an instant.
func (e *Entry) labels(life, node string) bool {
	rest, ok := strings.CutPrefix(life, foreignSign+e.writeID(node))
	return ok && (rest == "" || rest[0] == '.')
}

// foreign reports whether a value of _c, or none, is that of an item that no node of ours made.
func foreign(life string) bool { return life == "" || strings.HasPrefix(life, foreignSign) }

// MaxDigits bounds Entry.Digits, which begin at 1.
const MaxDigits = 999_999_999

func digits(rand func() uint64) uint32 { return uint32(rand()%MaxDigits) + 1 }

// Mark is what the entry leaves on an item: its sequence, and digits behind the point.
func (e *Entry) Mark() attr.Value { return number("%d.%09d", e.Seq, e.Digits) }

// closedMark is above the entry's mark and below that of every later entry.
func (e *Entry) closedMark() attr.Value { return number("%d.%09d1", e.Seq, e.Digits) }

// leftMark is the closed mark of an entry that gets a new sequence. It names the loss, so that who closed it knows it again
// after a crash, and another copy of this node does not take the entry for one that it may send.
func (e *Entry) leftMark(env Env) attr.Value {
	return number("%d.%09d2%07d", e.Seq, e.Digits, env.FirstRenumbered>>incarnationShift%1e7)
}

// stamp is the time of policy newest as it is written: no two entries have the same.
func (e *Entry) stamp() attr.Value { return number("%d.%09d", e.Stamp, e.Digits) }

func number(format string, args ...any) attr.Value {
	v, err := attr.N(fmt.Sprintf(format, args...))
	if err != nil { // at most 30 digits: it cannot be
		return attr.Value{}
	}
	return v
}

// fraction returns what a mark or a stamp has behind its point: those of one entry are the same, and of two are not.
func fraction(v attr.Value) string {
	_, text, _ := strings.Cut(v.Str(), ".")
	return text
}

// Whole returns what a mark or a stamp has before its point; 0 for anything else.
func Whole(v attr.Value) uint64 {
	if v.Kind() != attr.KindN {
		return 0
	}
	text, _, _ := strings.Cut(v.Str(), ".")
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
