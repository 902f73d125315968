package threefc

import "github.com/touchline/touchline/store"

// AttrTTL is the attribute with the second in which a row expires.
const AttrTTL = "ttlEpoch"

// Table declares the one table.
func Table(name string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent, TTL: AttrTTL,
		Why: "a goal is conditional on its game being there and not finished: whether it counts is decided in the cloud",
		Key: store.KeySpec{
			Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString},
		},
	}
}
