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

// The attributes of a row, beside its key and what the application adds.
const (
	attrHash   = "requestHash"
	attrStatus = "responseStatus"
	attrIDs    = "responseIds"
	attrNode   = "node"
	attrSeq    = "nodeSeq"
)

// Row is where the first use of a key is kept. The application says where: the item's key is made of a scope (who asks, and for
// what) and the key, and of nothing that differs between nodes.
type Row struct {
	Table string
	Key   attr.Item // names every key attribute of the table
	Hash  string    // of what is asked for: see Hash
	Node  string    // that writes it: store.Store.Node

	More    attr.Item     // attributes that the application's rows have
	Expires string        // the table's TTL attribute; empty: the row stays
	Keep    time.Duration // how long, with Expires; longer than a client may hold a request back
}

// Outcome is what came of a request: enough to answer it again.
type Outcome struct {
	Status int
	IDs    map[string]string // of what it made, by what the application calls them

	Repeated bool   // it came of an earlier request
	Node     string // that answered first
	Seq      uint64 // of the row in that node's journal
}

// Hash is the hash of a request: of its scope, and of its body as it was understood. Two bodies that mean the same have one hash:
// members of structs have an order, those of maps are sorted.
func Hash(scope string, body any) (string, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("hash a request: %w", err)
	}
	sum := sha256.Sum256(append([]byte(scope+"\n"), raw...))
	return hex.EncodeToString(sum[:]), nil
}

// Read returns what came of an earlier request with the same key; ok is false for the first one. A key that was used for
// something else is fault.Conflict.
func (r *Row) Read(tx *store.Tx) (out Outcome, ok bool, err error) {
	item, err := tx.Get(r.Table, r.Key)
	if err != nil || item == nil {
		return Outcome{}, false, err
	}
	if item[attrHash].Str() != r.Hash {
		return Outcome{}, false, fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another request.")
	}
	status, _ := item[attrStatus].Int()
	seq, _ := item[attrSeq].Int()
	return Outcome{Status: int(status), Repeated: true, Node: item[attrNode].Str(), Seq: uint64(max(0, seq)), IDs: IDs(item)}, true, nil
}

// IDs are what came of a request (Outcome.IDs), by an image of its row.
func IDs(item attr.Item) map[string]string {
	ids := map[string]string{}
	for name, id := range item[attrIDs].Map() {
		ids[name] = id.Str()
	}
	return ids
}

// Write does the writes of a first request and keeps what came of it, in one transaction, of which the row is the first action.
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
	p := store.PutItem{Table: r.Table, Item: item, Condition: "attribute_not_exists(#key)"}
	p.Names = map[string]string{"#key": slices.Min(slices.Collect(maps.Keys(r.Key)))}
	if r.Expires != "" { // one past its time is in the way until it is swept
		item[r.Expires] = attr.Int(tx.Now().Add(r.Keep).Unix())
		p.Condition += " OR #ttl < :now"
		p.Names["#ttl"], p.Values = r.Expires, attr.Item{":now": attr.Int(tx.Now().Unix())}
	}
	return p
}

// Same reports whether two images of a row stand for one request: what the other node has made of it is what this one would
// have.
func Same(a, b attr.Item) bool {
	return a != nil && b != nil && a[attrHash].Str() != "" && a[attrHash].Str() == b[attrHash].Str()
}
