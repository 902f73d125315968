package dynamoapi

import (
	"fmt"
	"strings"

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
	stream     wire.Opt[streamSpec]
	encryption wire.Opt[encryptionSpec]
	class      wire.Opt[string]
	protected  wire.Opt[bool]
}

// field reads a member that is one of the options.
func (o *tableOptions) field(d *wire.Decoder, name string) error {
	switch name {
	case "BillingMode":
		return d.OptText(&o.billing)
	case "ProvisionedThroughput":
		return readThroughput(d, &o.throughput)
	case "OnDemandThroughput":
		return readOnDemand(d, &o.onDemand)
	case "StreamSpecification":
		return o.readStream(d)
	case "SSESpecification":
		return o.readEncryption(d)
	case "TableClass":
		return d.OptText(&o.class)
	case "DeletionProtectionEnabled":
		return d.Bool(&o.protected)
	}
	return d.Skip()
}

func (o *tableOptions) readStream(d *wire.Decoder) error {
	o.stream.Set = true
	return d.Field("StreamSpecification", func(name string) error {
		switch name {
		case "StreamEnabled":
			return d.Bool(&o.stream.V.enabled)
		case "StreamViewType":
			return d.OptText(&o.stream.V.view)
		}
		return d.Skip()
	})
}

func (o *tableOptions) readEncryption(d *wire.Decoder) error {
	o.encryption.Set = true
	return d.Field("SSESpecification", func(name string) error {
		switch name {
		case "Enabled":
			return d.Bool(&o.encryption.V.enabled)
		case "SSEType":
			return d.OptText(&o.encryption.V.kind)
		case "KMSMasterKeyId":
			return d.OptText(&o.encryption.V.key)
		}
		return d.Skip()
	})
}

// constrainBilling lists what is wrong with the first two members in the service's order, constrainRest with the others.
func (o *tableOptions) constrainBilling(c *constraints) {
	c.among("billingMode", o.billing, store.BillingProvisioned, store.BillingOnDemand)
	constrainThroughput(c, "provisionedThroughput", o.throughput)
}

func (o *tableOptions) constrainRest(c *constraints) {
	if o.stream.Set {
		c.required("streamSpecification.streamEnabled", o.stream.V.enabled.Set)
		c.among("streamSpecification.streamViewType", o.stream.V.view,
			string(store.ViewNew), string(store.ViewOld), string(store.ViewBoth), string(store.ViewKeys))
	}
	c.among("sSESpecification.sSEType", o.encryption.V.kind, "AES256", "KMS")
	c.among("tableClass", o.class, "STANDARD", "STANDARD_INFREQUENT_ACCESS")
}

// checkStream refuses a StreamSpecification that contradicts itself.
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

// checkOnDemand refuses limits of reads and writes on demand that mean nothing. -1 takes a limit away.
func checkOnDemand(v wire.Opt[throughputSpec], billing string) error {
	if !v.Set {
		return nil
	}
	if billing != store.BillingOnDemand {
		return errWrong("OnDemandThroughput can only be specified when BillingMode is PAY_PER_REQUEST")
	}
	for _, m := range []struct {
		name string
		n    wire.Opt[int64]
	}{{"MaxReadRequestUnits", v.V.read}, {"MaxWriteRequestUnits", v.V.write}} {
		if m.n.Set && m.n.V < 1 && m.n.V != -1 {
			return errWrong("%s must be at least 1, or -1 for no limit", m.name)
		}
	}
	return nil
}

// checkBounds refuses more throughput than there is.
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

// settings gives what was asked for as the store keeps it.
func (v throughputSpec) limits(of store.Throughput) store.Throughput {
	if v.read.Set {
		of.MaxRead = v.read.V
	}
	if v.write.Set {
		of.MaxWrite = v.write.V
	}
	return of
}

func errWrong(format string, args ...any) error {
	return errValidation("One or more parameter values were invalid: "+format, args...)
}

// The limits of tags.
const (
	maxTags     = 50
	maxTagKey   = 128 // characters
	maxTagValue = 256
)

func (v *tag) read(d *wire.Decoder) error {
	return d.Object("Tag", func(name string) error {
		switch name {
		case "Key":
			return d.OptText(&v.key)
		case "Value":
			return d.OptText(&v.value)
		}
		return d.Skip()
	})
}

func readTags(d *wire.Decoder, into *wire.Opt[[]tag]) error {
	return readList(d, into, func(d *wire.Decoder, v *tag) error { return v.read(d) })
}

func constrainTags(c *constraints, v wire.Opt[[]tag]) {
	for i, t := range v.V {
		at := fmt.Sprintf("tags.%d.member", i+1)
		if c.required(at+".key", t.key.Set) {
			c.length(at+".key", t.key, 1, 4*maxTagKey)
		}
		c.required(at+".value", t.value.Set)
	}
}

// checkTags refuses tags that cannot be, alone or with each other.
func checkTags(tags []tag) error {
	seen := map[string]bool{}
	for _, t := range tags {
		switch {
		case len([]rune(t.key.V)) > maxTagKey:
			return errWrong("Tag Key exceeds the maximum size limit of %d characters", maxTagKey)
		case len([]rune(t.value.V)) > maxTagValue:
			return errWrong("Tag Value exceeds the maximum size limit of %d characters", maxTagValue)
		case strings.HasPrefix(strings.ToLower(t.key.V), "aws:"):
			return errWrong("Tag keys starting with 'aws:' are reserved for system use")
		case seen[t.key.V]:
			return errWrong("Duplicate Tag Key found: %s", t.key.V)
		}
		seen[t.key.V] = true
	}
	return nil
}
