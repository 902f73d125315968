package catalogue

// Sends reports whether writes to the table are sent to the cloud, if there is one.
func (t *TableSpec) Sends() bool {
	switch t.Policy {
	case PolicyIntent, PolicyNewest, PolicyState:
		return !t.Internal
	case PolicyLocal, PolicyLock:
	}
	return false
}

// TableSpec declares a table. The same declaration creates the buckets here and the table in the cloud.
type TableSpec struct {
	Name    string // as in DynamoDB, including the prefix
	Key     KeySpec
	Indexes []IndexSpec
	TTL     string // attribute with the expiry in epoch seconds; empty: items live until deleted
	Policy  Policy // how writes get to the cloud
	Why     string // the reason for the policy, for readers of the catalogue

	// Internal marks a table for the node's own bookkeeping. Interfaces that expose the store, such as the DynamoDB endpoint, hide it.
	Internal bool

	// Lock is the name of the lock whose fence the items carry, a prefix and an attribute of the item in braces, such as
	// "match:{matchId}": see LockOf. Empty: none.
	Lock string
}

// KeySpec names the key attributes of a table or an index. If Sort.Name is empty, there is only a partition key.
//
// Each part of a global index's key may have up to four attributes: MorePartition and MoreSort hold those after the first, in order and
// without gaps. Items with the same values of all partition attributes form one partition, sorted by the first sort attribute, then by
// the second, and so on.
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

// KeyType is the type of a key attribute, by DynamoDB's letter.
type KeyType byte

// The three types of a key attribute.
const (
	KeyString KeyType = 'S'
	KeyNumber KeyType = 'N'
	KeyBinary KeyType = 'B'
)

// IndexSpec declares a secondary index. It does not contain items that lack one of its key attributes.
type IndexSpec struct {
	Name       string     `json:"name"`
	Key        KeySpec    `json:"key"`
	Projection Projection `json:"projection"`
	Include    []string   `json:"include,omitempty"` // with ProjectInclude
	Local      bool       `json:"local,omitempty"`   // the table's partition key and another sort key; only created with the table
}

// Projection says which attributes an index has.
type Projection uint8

// DynamoDB's projection types.
const (
	ProjectAll Projection = iota
	ProjectKeysOnly
	ProjectInclude
)

// Policy says what is sent to the cloud and how a conflict there is resolved.
type Policy string

// The replication policies.
const (
	PolicyIntent Policy = "intent" // the operation with its own condition
	PolicyNewest Policy = "newest" // last writer by hybrid time
	PolicyState  Policy = "state"  // newest image under the owner's fence
	PolicyLocal  Policy = "local"  // never leaves this node
	PolicyLock   Policy = "lock"   // leases only
)
