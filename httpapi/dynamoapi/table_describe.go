package dynamoapi

import (
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// look is how a description differs from the store's state: answers to a change show it in progress, as the service does, although it
// is complete.
type look struct {
	table string            // status; empty: ACTIVE
	index string            // status of global indexes; empty: their own
	of    map[string]string // status of single global indexes
	gone  []store.IndexSpec // removed global indexes that are still shown
	made  bool              // the table is being created

	warming map[string]bool // global indexes, or "" for the table, with a request for warm throughput

	counts     store.Counts                // number and size of items
	throughput *store.Throughput           // the table's previous throughput
	indexes    map[string]store.Throughput // global indexes' previous throughput
}

// describe writes a TableDescription.
func (c *call) describe(d store.TableDescription, l look) {
	out, spec := c.out, d.Spec
	if l.table == "" {
		l.table = "ACTIVE"
	}
	left := l.table != "DELETING" // for a table being deleted, the service shows no keys, indexes or creation time
	out.Begin()
	if left {
		writeDefinitions(out, spec, l.gone)
	}
	out.NamedText("TableName", spec.Name)
	if left {
		writeKey(out, &spec.Key)
	}
	out.NamedText("TableStatus", l.table)
	if left {
		writeTime(out, "CreationDateTime", d.Created)
	}
	throughput := d.Settings.Throughput
	if l.throughput != nil {
		throughput = *l.throughput
	}
	out.Name("ProvisionedThroughput")
	c.writeThroughput(throughput, onDemand(d))
	out.NamedInt("TableSizeBytes", l.counts.Bytes)
	out.NamedInt("ItemCount", l.counts.Items)
	out.NamedText("TableArn", tableARN(spec.Name))
	if d.ID != "" {
		out.NamedText("TableId", d.ID)
	}
	c.writeBilling(d)
	if left {
		c.writeIndexes(d, l)
	}
	c.writeStream(d)
	c.writeOptions(d)
	writeOnDemand(out, throughput)
	writeWarm(out, throughput, onDemand(d), l, "")
	out.End()
}

// onDemand reports whether a table is billed per request. Tables without a billing mode have no limits either.
func onDemand(d store.TableDescription) bool { return d.Settings.Billing != store.BillingProvisioned }

func writeDefinitions(out *wire.Encoder, spec store.TableSpec, gone []store.IndexSpec) {
	spec.Indexes = append(append([]store.IndexSpec{}, spec.Indexes...), gone...)
	types := keyTypes{types: map[string]store.KeyType{}}
	types.addSpec(spec)
	out.NamedArray("AttributeDefinitions")
	for _, name := range types.names {
		out.TextObject("AttributeName", name, "AttributeType", string(rune(types.types[name])))
	}
	out.EndArray()
}

func writeKey(out *wire.Encoder, key *store.KeySpec) {
	out.NamedArray("KeySchema")
	elements := func(attrs []store.KeyAttr, kind string) {
		for _, a := range attrs {
			out.TextObject("AttributeName", a.Name, "KeyType", kind)
		}
	}
	elements(key.PartitionAttrs(), "HASH")
	elements(key.SortAttrs(), "RANGE")
	out.EndArray()
}

// writeTime writes an instant in seconds since 1970 with milliseconds; a zero one is omitted.
func writeTime(out *wire.Encoder, name string, at time.Time) {
	if !at.IsZero() {
		out.NamedFloat(name, float64(at.UnixMilli())/1000)
	}
}

func (c *call) writeThroughput(of store.Throughput, onDemand bool) {
	out := c.out
	decreases := 0
	if sameDay(of.Decreased, c.api.cfg.Now()) {
		decreases = of.Decreases
	}
	if onDemand {
		of.Read, of.Write = 0, 0
	}
	out.Begin()
	writeTime(out, "LastIncreaseDateTime", of.Increased)
	writeTime(out, "LastDecreaseDateTime", of.Decreased)
	out.NamedInt("NumberOfDecreasesToday", int64(decreases))
	out.NamedInt("ReadCapacityUnits", of.Read)
	out.NamedInt("WriteCapacityUnits", of.Write)
	out.End()
}

// writeBilling writes the billing summary. A table has one if it is or was billed per request.
func (c *call) writeBilling(d store.TableDescription) {
	since := d.Settings.BillingSince
	mode := store.BillingProvisioned
	if onDemand(d) {
		mode = store.BillingOnDemand
		if since.IsZero() {
			since = d.Created
		}
	} else if since.IsZero() {
		return
	}
	c.out.NamedObject("BillingModeSummary")
	c.out.NamedText("BillingMode", mode)
	writeTime(c.out, "LastUpdateToPayPerRequestDateTime", since)
	c.out.End()
}

func (c *call) writeStream(d store.TableDescription) {
	out := c.out
	if view := d.Settings.Stream; view != "" {
		out.NamedObject("StreamSpecification")
		out.NamedBool("StreamEnabled", true)
		out.NamedText("StreamViewType", string(view))
		out.End()
	}
	if n := len(d.Streams); n > 0 {
		label := d.Streams[n-1].Label
		out.NamedText("LatestStreamLabel", label)
		out.NamedText("LatestStreamArn", streamARN(d.Spec.Name, label))
	}
}

func (c *call) writeOptions(d store.TableDescription) {
	out, s := c.out, d.Settings
	if s.Encrypted {
		out.NamedObject("SSEDescription")
		out.NamedText("Status", "ENABLED")
		out.NamedText("SSEType", "KMS")
		if s.EncryptedBy != "" {
			out.NamedText("KMSMasterKeyArn", s.EncryptedBy)
		}
		out.End()
	}
	if s.Class != "" {
		out.NamedObject("TableClassSummary")
		out.NamedText("TableClass", s.Class)
		writeTime(out, "LastUpdateDateTime", s.ClassSince)
		out.End()
	}
	out.NamedBool("DeletionProtectionEnabled", s.Protected)
}

// writeIndexes writes the indexes of a table, local ones first.
func (c *call) writeIndexes(d store.TableDescription, l look) {
	var local, global []store.IndexSpec
	for _, ix := range d.Spec.Indexes {
		if ix.Local {
			local = append(local, ix)
		} else {
			global = append(global, ix)
		}
	}
	if len(local) > 0 {
		c.out.NamedArray("LocalSecondaryIndexes")
		for _, ix := range local {
			c.out.Begin()
			c.writeIndex(d, ix, l)
			c.out.End()
		}
		c.out.EndArray()
	}
	if len(global)+len(l.gone) == 0 {
		return
	}
	c.out.NamedArray("GlobalSecondaryIndexes")
	for _, ix := range global {
		c.writeGlobal(d, ix, l)
	}
	for _, ix := range l.gone {
		l.of = map[string]string{ix.Name: "DELETING"}
		c.writeGlobal(d, ix, l)
	}
	c.out.EndArray()
}

// writeIndex writes what local and global indexes have in common.
func (c *call) writeIndex(d store.TableDescription, ix store.IndexSpec, l look) {
	out := c.out
	out.NamedText("IndexName", ix.Name)
	writeKey(out, &ix.Key)
	out.NamedObject("Projection")
	writeProjection(out, ix)
	out.End()
	entries := l.counts.Indexes[ix.Name]
	out.NamedInt("IndexSizeBytes", entries*l.counts.Bytes/max(l.counts.Items, 1)) // as if all attributes were in the index
	out.NamedInt("ItemCount", entries)
	out.NamedText("IndexArn", tableARN(d.Spec.Name)+"/index/"+ix.Name)
}

func writeProjection(out *wire.Encoder, ix store.IndexSpec) {
	kind := map[store.Projection]string{
		store.ProjectAll: "ALL", store.ProjectKeysOnly: "KEYS_ONLY", store.ProjectInclude: "INCLUDE",
	}[ix.Projection]
	out.NamedText("ProjectionType", kind)
	if len(ix.Include) == 0 {
		return
	}
	out.NamedTexts("NonKeyAttributes", ix.Include)
}

func (c *call) writeGlobal(d store.TableDescription, ix store.IndexSpec, l look) {
	status, filling := string(store.IndexActive), false
	for _, have := range d.Indexes {
		if have.Name == ix.Name && have.Status == store.IndexCreating {
			status, filling = string(store.IndexCreating), true
		}
	}
	if l.index != "" {
		status = l.index
	}
	if s := l.of[ix.Name]; s != "" {
		status = s
	}
	throughput := d.Settings.Indexes[ix.Name]
	if was, ok := l.indexes[ix.Name]; ok {
		throughput = was
	}
	c.out.Begin()
	c.writeIndex(d, ix, l)
	c.out.NamedText("IndexStatus", status)
	if filling {
		c.out.NamedBool("Backfilling", true)
	}
	c.out.Name("ProvisionedThroughput")
	c.writeThroughput(throughput, onDemand(d))
	writeOnDemand(c.out, throughput)
	writeWarm(c.out, throughput, onDemand(d), l, ix.Name)
	c.out.End()
}
