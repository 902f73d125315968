package threefc

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

// AttrTTL is the attribute that holds a row's expiry time, in Unix seconds.
const AttrTTL = "ttlEpoch"

// Rows returns the handle of the application's only table.
func Rows(name string) table.Handle { return table.Handle{Table: name, PK: "pk", SK: "sk"} }

// Table declares the application's only table.
func Table(name string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent, TTL: AttrTTL,
		Why: "a goal is conditional on its game being there and not finished: whether it counts is decided in the cloud",
		Key: table.Keys("pk", "sk"),
	}
}
