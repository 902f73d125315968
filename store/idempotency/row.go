package idempotency

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// The attributes of a row besides its key and those of the application.
const (
	attrHash   = "requestHash"
	attrStatus = "responseStatus"
	attrIDs    = "responseIds"
	attrNode   = "node"
	attrSeq    = "nodeSeq"
	attrUser   = "userId"
	attrMadeBy = "madeBy"
	attrAt     = "occurredAt"
)

// Row is the row for a key's first use. The application chooses the item's key: a scope (who asks, and for what) and the Idempotency-Key,
// and nothing that differs between nodes.
type Row struct {
	Table string
	Key   attr.Item // all key attributes of the table
	Hash  string    // of the request: see Hash
	Node  string    // the node that writes the row: store.Store.Node

	User   string   // who sends the request; empty: nobody who is known
	MadeBy string   // who made the entry that User hands in; empty: User
	Former []Former // where an earlier request with the key may have been recorded; nothing is written there

	More    attr.Item     // the application's own attributes
	Expires string        // the table's TTL attribute; empty: the row stays
	Keep    time.Duration // how long the row stays, with Expires; longer than a client may hold back a request
}

// Former is a place of a key's row under another scope.
type Former struct {
	Key  attr.Item
	Hash string // of the request, with that scope
}

// Outcome is the outcome of a request, sufficient to answer it again.
type Outcome struct {
	Status int
	IDs    map[string]string // of what the request created, by the application's names
	At     time.Time         // when what it asks for happened, as the first node fixed it; zero if it has no such time

	Repeated bool   // the outcome is that of an earlier request
	User     string // who sent the first request; empty: only this user can have sent it
	Node     string // the node that answered first
	Seq      uint64 // sequence of the row in that node's journal
}

// Hash returns the hash of a request's scope and parsed body. Bodies with the same meaning have the same hash: struct fields have a fixed
// order, map keys are sorted.
func Hash(scope string, body any) (string, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("hash a request: %w", err)
	}
	sum := sha256.Sum256(append([]byte(scope+"\n"), raw...))
	return hex.EncodeToString(sum[:]), nil
}

// Read returns the outcome of an earlier request with the same key; ok is false if there is none. If the key was used for another
// request, the error is fault.Conflict.
func (r *Row) Read(tx *store.Tx) (out Outcome, ok bool, err error) {
	for _, at := range append([]Former{{r.Key, r.Hash}}, r.Former...) {
		item, err := tx.Get(r.Table, at.Key)
		if err != nil {
			return Outcome{}, false, err
		}
		if item == nil {
			continue
		}
		if item[attrHash].Str() != at.Hash {
			return Outcome{}, false, fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another request.")
		}
		return outcomeOf(item), true, nil
	}
	return Outcome{}, false, nil
}

func outcomeOf(item attr.Item) Outcome {
	status, _ := item[attrStatus].Int()
	seq, _ := item[attrSeq].Int()
	at, _ := time.Parse(time.RFC3339Nano, item[attrAt].Str()) // zero if there is none
	return Outcome{
		Status: int(status), Repeated: true, User: item[attrUser].Str(), Node: item[attrNode].Str(), Seq: uint64(max(0, seq)), IDs: IDs(item),
		At: at,
	}
}

// IsBy reports whether the row's user may see the outcome of an earlier request: that it is the user's own.
func (r *Row) IsBy(out Outcome) bool { return out.User == "" || out.User == r.User }

// IDs returns Outcome.IDs from an image of the row.
func IDs(item attr.Item) map[string]string {
	ids := map[string]string{}
	for name, id := range item[attrIDs].Map() {
		ids[name] = id.Str()
	}
	return ids
}

// Write does the writes of a first request and stores its outcome, in one transaction whose first action is the row.
func (r *Row) Write(tx *store.Tx, out Outcome, writes ...store.WriteItem) error {
	put := r.put(tx, out)
	return tx.TransactWrite(store.TransactWrite{Items: append([]store.WriteItem{{Put: &put}}, writes...)})
}

func (r *Row) put(tx *store.Tx, out Outcome) store.PutItem {
	item := maps.Clone(r.Key)
	maps.Copy(item, r.More)
	ids := attr.Item{}
	for name, id := range out.IDs {
		ids[name] = attr.S(id)
	}
	item[attrHash], item[attrStatus], item[attrIDs] = attr.S(r.Hash), attr.Int(int64(out.Status)), attr.M(ids)
	item[attrNode], item[attrSeq] = attr.S(r.Node), attr.Int(int64(tx.Seq()+1))
	if !out.At.IsZero() {
		item[attrAt] = attr.S(out.At.UTC().Format(time.RFC3339Nano))
	}
	for name, who := range map[string]string{attrUser: r.User, attrMadeBy: r.MadeBy} {
		if who != "" {
			item[name] = attr.S(who)
		}
	}
	p := store.PutItem{Table: r.Table, Item: item, Condition: "attribute_not_exists(#key)"}
	p.Names = map[string]string{"#key": slices.Min(slices.Collect(maps.Keys(r.Key)))}
	if r.Expires != "" { // an expired row still exists until it is swept
		item[r.Expires] = attr.Int(tx.Now().Add(r.Keep).Unix())
		p.Condition += " OR #ttl < :now"
		p.Names["#ttl"], p.Values = r.Expires, attr.Item{":now": attr.Int(tx.Now().Unix())}
	}
	return p
}

// SameRequest reports whether two images of a row belong to the same request, so that the outcome at the other node is also this one's.
func SameRequest(a, b attr.Item) bool {
	return a != nil && b != nil && a[attrHash].Str() != "" && a[attrHash].Str() == b[attrHash].Str()
}
