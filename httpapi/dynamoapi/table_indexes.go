package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

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

// writeIndex writes what all indexes have.
func (c *call) writeIndex(d store.TableDescription, ix store.IndexSpec, l look) {
	out := c.out
	out.NamedText("IndexName", ix.Name)
	writeKey(out, &ix.Key)
	out.NamedObject("Projection")
	writeProjection(out, ix)
	out.End()
	var counts store.IndexCounts
	for _, of := range l.counts.Indexes {
		if of.Name == ix.Name {
			counts = of
		}
	}
	out.NamedInt("IndexSizeBytes", counts.Bytes)
	out.NamedInt("ItemCount", counts.Items)
	out.NamedText("IndexArn", c.api.cfg.indexARN(d.Spec.Name, ix.Name))
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
