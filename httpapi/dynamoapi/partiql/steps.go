package partiql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// steps returns the queries, or the scan.
func (r *reading) steps() (all []Step) {
	if !r.keyed {
		return []Step{r.step()}
	}
	for _, partition := range r.partitions {
		inPartition := equals(r.key.Partition, partition)
		switch {
		case r.sorted:
			for _, sort := range r.sorts {
				all = append(all, r.step(inPartition, equals(r.key.Sort, sort)))
			}
		case r.bound != nil:
			all = append(all, r.step(inPartition, r.bound))
		default:
			all = append(all, r.step(inPartition))
		}
	}
	return all
}

func equals(a Attr, v attr.Value) *node {
	return &node{kind: nodeCompare, name: "=", args: []*node{
		{kind: nodePath, steps: []step{{a.Name, noIndex}}}, {kind: nodeValue, value: v},
	}}
}

// step returns one query, or the scan if there is no key condition.
func (r *reading) step(key ...*node) Step {
	b := newBuilder(r.params)
	step := Step{KeyCondition: b.all(key), Filter: b.all(r.filter), Projection: r.projection(b)}
	step.Params = b.exprParams()
	return step
}

// projection returns the attributes needed: those shown, and those that later conditions read.
func (r *reading) projection(b *builder) string {
	if r.columns == nil {
		return ""
	}
	var names []string
	want := func(name string) {
		if name = b.name(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range r.columns {
		want(c.steps[0].name)
	}
	for _, c := range r.after {
		c.attributes(want)
	}
	return strings.Join(names, ", ")
}

// byKey makes a read by key if the conditions are exactly the complete key of one item of the table.
func (r *reading) byKey(out *Read) {
	if r.source.Index != nil || len(r.partitions) != 1 || len(r.filter)+len(r.after) > 0 {
		return
	}
	k := attr.Item{r.key.Partition.Name: r.partitions[0]}
	if r.key.Sort.Name != "" {
		if len(r.sorts) != 1 {
			return
		}
		k[r.key.Sort.Name] = r.sorts[0]
	}
	b := newBuilder(r.params)
	out.Key = k
	out.Steps = []Step{{Projection: r.projection(b)}}
	out.Steps[0].Params = b.exprParams()
}

// refuseUnprojected refuses conditions on attributes that the index does not contain, if it is read by its key.
func (r *reading) refuseUnprojected(conditions []*node) {
	if r.source.Index == nil {
		return
	}
	var names []string
	for _, c := range conditions {
		c.attributes(func(name string) {
			if !r.source.Index.Shows(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	}
	if len(names) > 0 {
		hashOrder(names)
		panic(invalid("One or more parameter values were invalid: Secondary index %s does not project one or more filter attributes: [%s]",
			r.source.Index.Name, strings.Join(names, ", ")))
	}
}

// hashOrder sorts names in the order in which the service shows a set of them, which is that of Java's HashSet.
func hashOrder(names []string) {
	size := uint32(16)
	for uint32(len(names)) > size*3/4 {
		size *= 2
	}
	bucket := func(name string) uint32 {
		h := uint32(0)
		for _, r := range name {
			h = h*31 + uint32(r)
		}
		return (h ^ h>>16) % size
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(bucket(a), bucket(b)) })
}

// Columns is what a SELECT shows of an item.
type Columns struct {
	all []column
}

// column is a value shown under a name: the one at path, or the parts of a list element there that rest selects.
type column struct {
	name string
	path []step
	rest *expr.Projection // projection on {"element": value}; nil: the whole value
}

// newColumns checks the paths of a SELECT; nil stands for all attributes.
func newColumns(paths []*node) *Columns {
	if paths == nil {
		return nil
	}
	all := make([][]step, len(paths))
	for i, p := range paths {
		all[i] = p.steps
	}
	projectionOn(all)
	c := &Columns{}
	inner := map[string][][]step{} // rests of paths into a list element
	for _, path := range all {
		head, rest := split(path)
		name := label(head)
		if rest == nil || inner[name] == nil {
			c.all = append(c.all, column{name: name, path: head})
		}
		if rest != nil {
			inner[name] = append(inner[name], append([]step{{"element", noIndex}}, rest...))
		}
	}
	for i := range c.all {
		if rests := inner[c.all[i].name]; rests != nil {
			c.all[i].rest = projectionOn(rests)
		}
	}
	return c
}

// projectionOn returns the projection on paths, which must be valid.
func projectionOn(paths [][]step) *expr.Projection {
	b := newBuilder(nil)
	texts := make([]string, len(paths))
	for i, p := range paths {
		texts[i] = b.path(p)
	}
	return must(expr.ParseProjection(strings.Join(texts, ", "), b.exprParams()))
}

// split splits a path after its first index. rest is nil if nothing follows.
func split(path []step) (head, rest []step) {
	i := slices.IndexFunc(path, func(s step) bool { return s.index != noIndex })
	if i < 0 || i == len(path)-1 {
		return path, nil
	}
	return path[:i+1], path[i+1:]
}

// ShownPart returns the part of an item that is shown.
func (c *Columns) ShownPart(it attr.Item) attr.Item {
	if c == nil {
		return it
	}
	out := make(attr.Item, len(c.all))
	for _, col := range c.all {
		v := attr.M(it)
		for _, s := range col.path {
			v = s.valueOf(v)
		}
		if col.rest != nil && !v.IsZero() {
			v = col.rest.Project(attr.Item{"element": v})["element"]
		}
		if !v.IsZero() {
			out[col.name] = v
		}
	}
	return out
}

// valueOf returns the value that a step leads to; absent if there is none.
func (s step) valueOf(v attr.Value) attr.Value {
	if s.index == noIndex {
		return v.Map()[s.name]
	}
	if list := v.List(); s.index < len(list) {
		return list[s.index]
	}
	return attr.Value{}
}
