package dynamoapi

import (
	"strings"
	"unicode"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// streamSpec is StreamSpecification.
type streamSpec struct {
	enabled wire.Opt[bool]
	view    wire.Opt[string]
}

// encryptionSpec is SSESpecification.
type encryptionSpec struct {
	enabled   wire.Opt[bool]
	kind, key wire.Opt[string]
}

// tag is a label of a table.
type tag struct {
	key, value wire.Opt[string]
}

// tableOptions are the settings that CreateTable and UpdateTable share.
type tableOptions struct {
	billing    wire.Opt[string]
	throughput wire.Opt[throughputSpec]
	onDemand   wire.Opt[throughputSpec]
	warm       wire.Opt[throughputSpec]
	stream     wire.Opt[streamSpec]
	encryption wire.Opt[encryptionSpec]
	class      wire.Opt[string]
	protected  wire.Opt[bool]
}

func (o *tableOptions) members(m *wire.Member) {
	m.Text("BillingMode", &o.billing)
	wire.Object(m, "ProvisionedThroughput", "ProvisionedThroughput", &o.throughput, (*throughputSpec).members)
	wire.Object(m, "OnDemandThroughput", "OnDemandThroughput", &o.onDemand, (*throughputSpec).onDemandMembers)
	wire.Object(m, "WarmThroughput", "WarmThroughput", &o.warm, (*throughputSpec).warmMembers)
	wire.Object(m, "StreamSpecification", "StreamSpecification", &o.stream, (*streamSpec).members)
	wire.Object(m, "SSESpecification", "SSESpecification", &o.encryption, (*encryptionSpec).members)
	m.Text("TableClass", &o.class)
	m.Bool("DeletionProtectionEnabled", &o.protected)
	if why := absent(m.Name); why != "" {
		m.Read(m.Name, func(d *wire.Decoder) { d.Fail(errWrong("%s is not supported: %s", m.Name, why)) })
	}
}

func (s *streamSpec) members(m *wire.Member) {
	m.Bool("StreamEnabled", &s.enabled)
	m.Text("StreamViewType", &s.view)
}

func (s *encryptionSpec) members(m *wire.Member) {
	m.Bool("Enabled", &s.enabled)
	m.Text("SSEType", &s.kind)
	m.Text("KMSMasterKeyId", &s.key)
}

// constrainBilling records violations of the first two members in the service's order, constrainRest of the others.
func (o *tableOptions) constrainBilling(c *constraints) {
	c.requireOneOf("billingMode", o.billing, store.BillingProvisioned, store.BillingOnDemand)
	constrainThroughput(c, "provisionedThroughput", o.throughput)
}

func (o *tableOptions) constrainRest(c *constraints) {
	if o.stream.Set {
		c.require("streamSpecification.streamEnabled", o.stream.V.enabled.Set)
		c.requireOneOf("streamSpecification.streamViewType", o.stream.V.view,
			string(store.ViewNew), string(store.ViewOld), string(store.ViewBoth), string(store.ViewKeys))
	}
	c.requireOneOf("sSESpecification.sSEType", o.encryption.V.kind, "AES256", "KMS")
	c.requireOneOf("tableClass", o.class, "STANDARD", "STANDARD_INFREQUENT_ACCESS")
}

// checkStream refuses a contradictory StreamSpecification.
func (o *tableOptions) checkStream() error {
	s := o.stream.V
	switch {
	case !o.stream.Set:
	case s.enabled.V && !s.view.Set:
		return errWrong("StreamViewType is required when StreamEnabled is true")
	case !s.enabled.V && s.view.Set:
		return errWrong("StreamViewType can only be specified when StreamEnabled is true")
	}
	return nil
}

// checkBounds refuses throughput above the service's maximum.
func checkBounds(v wire.Opt[throughputSpec]) error {
	const most = 1_000_000_000_000
	switch {
	case v.V.read.V > most:
		return errValidation("Given value %d for ReadCapacityUnits is out of bounds", v.V.read.V)
	case v.V.write.V > most:
		return errValidation("Given value %d for WriteCapacityUnits is out of bounds", v.V.write.V)
	}
	return nil
}

func errWrong(format string, args ...any) error {
	return errValidation("One or more parameter values were invalid: "+format, args...)
}

// Limits of tags.
const (
	maxTags     = 50
	maxTagKey   = 128 // characters
	maxTagValue = 256
)

func (v *tag) members(m *wire.Member) {
	m.Text("Key", &v.key)
	m.Text("Value", &v.value)
}

// checkTags refuses invalid and repeated tags.
func checkTags(tags []tag) error {
	seen := map[string]bool{}
	for _, t := range tags {
		if err := checkTagKey(t.key); err != nil {
			return err
		}
		if !t.value.Set || !isTagText(t.value.V, maxTagValue) {
			return errValidation("The Tag Value provided is invalid, Value: %s", orNull(t.value))
		}
		if seen[t.key.V] {
			return errValidation("Duplicate Tag Keys provided as input: Duplicate Tag Key found %s", t.key.V)
		}
		seen[t.key.V] = true
	}
	return nil
}

func checkTagKey(key wire.Opt[string]) error {
	switch {
	case key.V == "", !isTagText(key.V, maxTagKey):
		return errValidation("The Tag Key provided is invalid, Key: %s", orNull(key))
	case strings.HasPrefix(strings.ToLower(key.V), "aws:"):
		return errValidation("Tag Key cannot be prefixed with aws:, Key: %s", key.V)
	}
	return nil
}

// isTagText reports whether a tag's key or value has at most most characters, all of them allowed: letters, digits and spaces of any
// script, and some punctuation.
func isTagText(text string, most int) bool {
	n := 0
	for _, r := range text {
		if n++; n > most || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsSpace(r) && !strings.ContainsRune("_.:/=+-@", r) {
			return false
		}
	}
	return true
}

// absent returns why a member of CreateTable or UpdateTable is refused; "" for other members. Ignoring it would promise copies and
// safeguards that do not exist.
func absent(member string) (why string) {
	switch member {
	case "GlobalTableSettingsReplicationMode", "GlobalTableSourceArn", "GlobalTableWitnessUpdates", "MultiRegionConsistency",
		"ReplicaUpdates", "DisassociationProtectionEnabled":
		return "there are no global tables here"
	case "VectorIndexes", "VectorIndexUpdates":
		return "there are no vector indexes here"
	case "ResourcePolicy":
		return "there are no resource policies here; the file of access keys says what each key may do"
	}
	return ""
}
