package intent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// Attributes of the rows in our own table (Env.SyncTable), and those of the locks table that we read.
const (
	SyncKey    = "id"  // partition key, a string: NodeID, DeadID, MovedID, MadeID or TxnID
	SyncTTL    = "ttl" // epoch seconds
	syncClosed = "closed"
	syncMoved  = "moved" // of a closed MadeID: the create moved to another life
	syncMark   = "mark"  // of a MadeID: the entry's
	lockKey    = "lockKey"
	lockFence  = "fence"
)

// NodeID returns the key of a node's row.
func NodeID(node string) string { return "node:" + node }

// DeadID returns the key of the tombstone of a life.
func DeadID(life string) string { return "dead#" + life }

// MovedID returns the key of the row recording that a create moved to a life other than the one it was to begin.
func MovedID(life string) string { return "moved#" + life }

// MadeID returns the key of the proof that a create began a life or, if closed, that it never will.
func MadeID(life string) string { return "made#" + life }

// TxnID returns the key of the proof of a transaction, given the write id of its first entry.
func TxnID(writeID string) string { return "txn#" + writeID }

// incarnationShift: a sequence is an incarnation, shifted by this, plus a counter (see store).
const incarnationShift = 40

// WriteID returns an entry's name in the cloud: node, incarnation and sequence, such as a.1.1099511627781.
func WriteID(node string, seq uint64) string {
	return node + "." + strconv.FormatUint(seq>>incarnationShift, 10) + "." + strconv.FormatUint(seq, 10)
}

func (e *Entry) writeID(node string) string { return WriteID(node, e.Seq) }

// lifeID names the life that a create begins. A lost timeline may have sent the folded entries alone or within another fold; the
// first of them is the same in all.
func (e *Entry) lifeID(node string) string {
	if e.Begun != 0 {
		return WriteID(node, e.Begun)
	}
	return e.writeID(node)
}

// maker returns the node and sequence of the entry that began a life; ok is false if none of our nodes began it.
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

// foreignSign begins the label of a life that none of our nodes created.
const foreignSign = "~"

// label names a foreign life on which the entry is our first write. It contains the send's instant. Otherwise an earlier send could
// have given the same label to a life that a foreign Put has ended since, and entries on that life would take this one for it.
func (e *Entry) label(env Env) string {
	return foreignSign + e.writeID(env.Node) + "." + strconv.FormatInt(env.Now.UnixMilli(), 36)
}

// labels reports whether a label is the entry's own; earlier versions wrote it without an instant.
func (e *Entry) labels(life, node string) bool {
	rest, ok := strings.CutPrefix(life, foreignSign+e.writeID(node))
	return ok && (rest == "" || rest[0] == '.')
}

// foreign reports whether a value of _c, possibly none, belongs to an item that none of our nodes created.
func foreign(life string) bool { return life == "" || strings.HasPrefix(life, foreignSign) }

// MaxDigits is the largest value of Entry.Digits; the smallest is 1.
const MaxDigits = 999_999_999

func digits(rand func() uint64) uint32 { return uint32(rand()%MaxDigits) + 1 }

// Mark returns what the entry leaves on an item: its sequence, then its digits after the point, such as 17.000000042.
func (e *Entry) Mark() attr.Value { return number("%d.%09d", e.Seq, e.Digits) }

// closedMark returns a mark above the entry's and below that of every later entry, such as 17.0000000421.
func (e *Entry) closedMark() attr.Value { return number("%d.%09d1", e.Seq, e.Digits) }

// leftMark returns the closed mark of an entry that gets a new sequence. It names the loss: the process that closed it recognizes it
// after a crash, and another copy of this node does not send the entry.
func (e *Entry) leftMark(env Env) attr.Value {
	return number("%d.%09d2%07d", e.Seq, e.Digits, env.FirstRenumbered>>incarnationShift%1e7)
}

// stamp returns the time of policy newest as it is written, unique to the entry.
func (e *Entry) stamp() attr.Value { return number("%d.%09d", e.Stamp, e.Digits) }

func number(format string, args ...any) attr.Value {
	v, err := attr.N(fmt.Sprintf(format, args...))
	if err != nil { // impossible: at most 30 digits
		return attr.Value{}
	}
	return v
}

// fraction returns the digits after the point of a mark or stamp. They identify the entry.
func fraction(v attr.Value) string {
	_, text, _ := strings.Cut(v.Str(), ".")
	return text
}

// Whole returns the part of a mark or stamp before the point; 0 for anything else.
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
