package scorekeeper

import "github.com/touchline/touchline/store"

// Table declares the one table.
func Table(name string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a guess is conditional on those before it: which of two nodes' guesses counts is decided in the cloud, and the rest is merged",
		Key: store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString}},
	}
}
