package pickem

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

// Table declares the one table with its index.
func Table(name, index string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a pick is conditional on its event being open: whether it came in time is decided in the cloud",
		Key: table.Keys("PK", "SK"), Indexes: []store.IndexSpec{{Name: index, Key: table.Keys("GSI_PK", "GSI_SK"), Projection: store.ProjectAll}},
	}
}
