package threefc

import "github.com/touchline/touchline/store"

// AttrTTL is the attribute that holds a row's expiry time, in Unix seconds.
const AttrTTL = "ttlEpoch"

// Table declares the application's only table.
func Table(name string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent, TTL: AttrTTL,
		Why: "a goal is conditional on its game being there and not finished: whether it counts is decided in the cloud",
		Key: store.KeySpec{
			Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString},
		},
	}
}
