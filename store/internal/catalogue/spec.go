package catalogue

// Sends reports whether writes to the table go to the cloud, were there one.
func (t *TableSpec) Sends() bool {
	switch t.Policy {
	case PolicyIntent, PolicyNewest, PolicyState:
		return !t.Internal
	case PolicyLocal, PolicyLock:
	}
	return false
}

// TableSpec declares a table: the same declaration makes the buckets here and the CreateTable call in the cloud.
type TableSpec struct {
	Name    string // as in DynamoDB, prefix included
	Key     KeySpec
	Indexes []IndexSpec
	TTL     string // attribute with the expiry in epoch seconds; empty: items live until deleted
	Policy  Policy // how writes travel to the cloud
	Why     string // the reason for the policy, for the people who read the catalogue

	// Internal is for the node's own bookkeeping: who shows a store to others, as the DynamoDB endpoint does, leaves the
	// table out.
	Internal bool

	// Lock names the lock whose fence the items carry, with attributes of the item in braces, such as "match:{matchId}":
	// see LockOf. Empty: none.
	Lock string
}

// KeySpec names the key attributes of a table or an index. An empty Sort.Name means a partition key alone.
//
// Each part of a global index's key may have up to four attributes: MorePartition and MoreSort hold those after the
// first, in their order, without gaps. Items with the same values of all partition attributes are one partition, sorted
// by the sort attributes one after the other.
type KeySpec struct {
	Partition KeyAttr
	Sort      KeyAttr

	MorePartition [MaxKeyPart - 1]KeyAttr
	MoreSort      [MaxKeyPart - 1]KeyAttr
}

// KeyAttr is a key attribute and its type.
type KeyAttr struct {
	Name string
	Type KeyType
}

// KeyType is the type of a key attribute, in DynamoDB's letters.
type KeyType byte

// The three types a key may have.
const (
	KeyString KeyType = 'S'
	KeyNumber KeyType = 'N'
	KeyBinary KeyType = 'B'
)

// IndexSpec declares a secondary index. An item without the index's key attributes is not in it.
type IndexSpec struct {
	Name       string
	Local      bool // the table's partition key and a sort key of its own; made with the table, never later
	Key        KeySpec
	Projection Projection
	Include    []string // with ProjectInclude
}

// Projection says which attributes an index shows.
type Projection uint8

// The projections of DynamoDB.
const (
	ProjectAll Projection = iota
	ProjectKeysOnly
	ProjectInclude
)

// Policy says what is sent to the cloud and how a conflict is decided there.
type Policy string

// The replication policies.
const (
	PolicyIntent Policy = "intent" // the operation with its own condition
	PolicyNewest Policy = "newest" // last writer by hybrid time
	PolicyState  Policy = "state"  // newest image under the owner's fence
	PolicyLocal  Policy = "local"  // never leaves this node
	PolicyLock   Policy = "lock"   // leases only
)
