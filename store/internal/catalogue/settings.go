package catalogue

import (
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/store/internal/refusal"
)

// TableSettings are settings that DynamoDB keeps for a table. The store only acts on the stream and the protection. A table that is
// dropped and created again starts with new ones. Define does not change them.
type TableSettings struct {
	Billing      string     `json:"billing,omitempty"`     // BillingProvisioned or BillingOnDemand; empty: not given
	BillingSince time.Time  `json:"billingSince,omitzero"` // when it last became BillingOnDemand
	Class        string     `json:"class,omitempty"`       // STANDARD, STANDARD_INFREQUENT_ACCESS; empty: not given
	ClassSince   time.Time  `json:"classSince,omitzero"`   // when it last changed
	Protected    bool       `json:"protected,omitempty"`   // DropTable is refused
	Encrypted    bool       `json:"encrypted,omitempty"`   // with a customer's key: SSESpecification's Enabled
	EncryptedBy  string     `json:"encryptedBy,omitempty"` // its KMSMasterKeyId
	Stream       StreamView `json:"stream,omitempty"`      // what the records of its stream show; empty: no stream

	Throughput Throughput            `json:"throughput,omitzero"` // of the table
	Indexes    map[string]Throughput `json:"indexes,omitempty"`   // of its global indexes; entries without an index are dropped
	Tags       map[string]string     `json:"tags,omitempty"`
}

// Billing modes.
const (
	BillingProvisioned = "PROVISIONED"
	BillingOnDemand    = "PAY_PER_REQUEST"
)

// Throughput is the requested throughput of a table or a global index, in units; 0: not given. It limits nothing.
type Throughput struct {
	Read      int64     `json:"read,omitempty"`
	Write     int64     `json:"write,omitempty"`
	MaxRead   int64     `json:"maxRead,omitempty"` // with on-demand billing; 0: no limit
	MaxWrite  int64     `json:"maxWrite,omitempty"`
	WarmRead  int64     `json:"warmRead,omitempty"` // WarmThroughput, if it was above the default
	WarmWrite int64     `json:"warmWrite,omitempty"`
	Increased time.Time `json:"increased,omitzero"` // when Read or Write was last increased; zero: never
	Decreased time.Time `json:"decreased,omitzero"`
	Decreases int       `json:"decreases,omitempty"` // on the day of Decreased, in UTC
}

// StreamView says what the records of a stream show, in DynamoDB's terms.
type StreamView string

// The views of a stream.
const (
	ViewKeys StreamView = "KEYS_ONLY"
	ViewNew  StreamView = "NEW_IMAGE"
	ViewOld  StreamView = "OLD_IMAGE"
	ViewBoth StreamView = "NEW_AND_OLD_IMAGES"
)

// Check refuses an unknown view.
func (v StreamView) Check() error {
	if slices.Contains([]StreamView{"", ViewKeys, ViewNew, ViewOld, ViewBoth}, v) {
		return nil
	}
	return refusal.Constraint("streamSpecification.streamViewType",
		"Member must satisfy enum value set: [NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]")
}

// Clone returns a copy of the settings and their maps.
func (s TableSettings) Clone() TableSettings {
	s.Indexes, s.Tags = maps.Clone(s.Indexes), maps.Clone(s.Tags)
	return s
}

// Plain returns the settings in the form in which they are read from the file, for comparisons.
func (s TableSettings) Plain() TableSettings {
	s = s.Clone()
	s.BillingSince, s.ClassSince = PlainTime(s.BillingSince), PlainTime(s.ClassSince)
	s.Throughput = s.Throughput.plain()
	for name, units := range s.Indexes {
		s.Indexes[name] = units.plain()
	}
	if len(s.Indexes) == 0 {
		s.Indexes = nil
	}
	if len(s.Tags) == 0 {
		s.Tags = nil
	}
	return s
}

func (u Throughput) plain() Throughput {
	u.Increased, u.Decreased = PlainTime(u.Increased), PlainTime(u.Decreased)
	return u
}

// PlainTime returns a time in UTC without a monotonic clock reading.
func PlainTime(t time.Time) time.Time { return t.UTC().Round(0) }
