package pickem

import "github.com/touchline/touchline/store"

// Table declares the one table with its index.
func Table(name, index string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a pick is conditional on its event being open: whether it came in time is decided in the cloud",
		Key: keys("PK", "SK"), Indexes: []store.IndexSpec{{Name: index, Key: keys("GSI_PK", "GSI_SK"), Projection: store.ProjectAll}},
	}
}

func keys(partition, sort string) store.KeySpec {
	return store.KeySpec{
		Partition: store.KeyAttr{Name: partition, Type: store.KeyString}, Sort: store.KeyAttr{Name: sort, Type: store.KeyString},
	}
}
