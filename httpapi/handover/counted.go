package handover

import (
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// keepCounted is how long a node knows that it has carried out an entry: longer than one may wait on a device.
const keepCounted = 31 * 24 * time.Hour

// Sent identifies an entry that a device has sent, of a route that keeps no row of its key.
type Sent struct {
	Device, App, Key string
	Hash             string // of the request
}

// countedRow is an entry that was carried out, as stored.
type countedRow struct {
	ID   string `dynamodbav:"id"`
	Hash string `dynamodbav:"hash"`
	Seq  uint64 `dynamodbav:"seq"`
	TTL  int64  `dynamodbav:"ttl"`
}

func (s *Sent) key() string { return "counted " + s.Device + " " + s.App + " " + s.Key }

// Count stores that an entry was carried out; seq is the number of its last record.
func Count(tx *store.Tx, s *Sent, seq uint64) error {
	item, err := attr.Marshal(countedRow{ID: s.key(), Hash: s.Hash, Seq: seq, TTL: tx.Now().Add(keepCounted).Unix()})
	if err == nil {
		_, err = tx.Put(store.PutItem{Table: tableHeard, Item: item, NoOld: true})
	}
	return err
}

// Counted returns the number of the last record of an entry that was carried out here; ok is false if it was not. If its key was used for
// another request, the error is fault.Conflict.
func Counted(tx *store.Tx, s *Sent) (seq uint64, ok bool, err error) {
	item, err := tx.Get(tableHeard, attr.Item{"id": attr.S(s.key())})
	var row countedRow
	if err != nil || item == nil || attr.Unmarshal(item, &row) != nil {
		return 0, false, err
	}
	if row.Hash != s.Hash {
		return 0, false, fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another request.")
	}
	return row.Seq, true, nil
}
