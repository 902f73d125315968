package partiql

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// maxReads is how many keys a SELECT may name.
const maxReads = 50

// Source is what a SELECT reads: a table or one of its indexes.
type Source struct {
	Table Key
	Index *Index // nil: the table itself
}

// Index is an index as a SELECT needs to know it.
type Index struct {
	Name  string
	Key   Key
	Shows func(attribute string) bool
}

// key is the key by which the source is read.
func (s Source) key() Key {
	if s.Index != nil {
		return s.Index.Key
	}
	return s.Table
}

// Read is what a SELECT does.
type Read struct {
	Key   attr.Item // the whole key of an item of the table: one read by the key; otherwise nil
	Scan  bool      // Steps has one, and it is a scan
	Steps []Step    // to be done one after the other; none: the conditions exclude each other

	Descending bool
	After      *expr.Condition // on key attributes, which the filter of a query may not name: of the items that it gives; nil: none
	Columns    *Columns        // nil: all attributes
}

// Step is one query, scan or read by the key: expressions as store/expr takes them.
type Step struct {
	KeyCondition string
	Filter       string
	Projection   string // all attributes that are needed, whole
	expr.Params
}

// reading is a Read that is being made.
type reading struct {
	*Statement
	source Source
	key    Key
	params []attr.Value

	partitions []attr.Value // the values that the partition key may have
	keyed      bool         // they are known
	sorts      []attr.Value
	sorted     bool
	anyType    bool    // values need not be of the key's types
	bound      *node   // the condition on the sort key, if it is not known
	filter     []*node // of queries and of scans
	after      []*node
}

// Read compiles a SELECT.
//
// The partition key is known if WHERE wants it to be equal to a constant or to be in a list of them, or has nothing but such
// equalities on both sides of an OR. Then there is one query for each value, and for each of the sort key if that is known too.
// Otherwise it is a scan.
func (s *Statement) Read(params []attr.Value, source Source) (_ Read, err error) {
	defer caught(&err)
	s.match(params)
	r := &reading{Statement: s, source: source, key: source.key(), params: params}
	out := Read{Columns: newColumns(s.columns)}
	r.check(s.where)
	r.divide()
	out.Scan, out.Descending = !r.keyed, r.direction()
	if len(r.after) > 0 {
		b := newBuilder(params)
		text := b.all(r.after)
		out.After = must(expr.ParseFilter(text, b.shared()))
	}
	out.Steps = r.steps()
	r.byKey(&out)
	return out, nil
}

// SingleItem compiles a SELECT that has to name the key of one item and nothing else; false if it does not. Whether the values
// are of the key's types is not looked at.
func (s *Statement) SingleItem(params []attr.Value, table Key) (out Read, single bool, err error) {
	defer caught(&err)
	s.match(params)
	r := reading{Statement: s, source: Source{Table: table}, key: table, params: params, anyType: true}
	r.divide()
	r.byKey(&out)
	if s.Index != "" || out.Key == nil || r.bound != nil {
		return Read{}, false, nil
	}
	out.Columns = newColumns(s.columns)
	return out, true, nil
}

// check refuses what no key attribute can be held against.
func (r *reading) check(n *node) {
	if n == nil {
		return
	}
	if n.kind == nodePath && len(n.steps) > 1 && r.key.has(n.steps[0].name) {
		panic(invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: %s", n.steps[0].name))
	}
	for _, arg := range n.args {
		r.check(arg)
	}
}

// divide decides what each condition is for.
func (r *reading) divide() {
	var rest []*node
	for _, c := range r.where.conjuncts() {
		values, ok := r.among(c, r.key.Partition)
		switch {
		case !ok:
			rest = append(rest, c)
		case r.keyed:
			r.partitions = common(r.partitions, values)
		default:
			r.partitions, r.keyed = values, true
		}
	}
	if !r.keyed {
		r.filter = r.where.conjuncts()
		return
	}
	for _, c := range rest {
		r.place(c)
	}
	if r.sorted && r.bound != nil {
		r.after, r.bound = append(r.after, r.bound), nil
	}
	r.unprojected(rest)
	if len(r.partitions)*max(1, len(r.sorts)) > maxReads {
		panic(invalid("Too many decomposed read operations for a given query."))
	}
}

// place finds the use of a condition of a read whose partition key is known.
func (r *reading) place(c *node) {
	if r.key.Sort.Name != "" {
		if values, ok := r.among(c, r.key.Sort); ok {
			if r.sorted {
				values = common(r.sorts, values)
			}
			r.sorts, r.sorted = values, true
			return
		}
		if r.limit(c) {
			return
		}
	}
	ofKey := false
	c.attributes(func(name string) { ofKey = ofKey || r.key.has(name) })
	if ofKey {
		r.after = append(r.after, c)
		return
	}
	r.filter = append(r.filter, c)
}

// direction reads ORDER BY: whether the sort key descends. That of the partition key turns the order of the partitions.
func (r *reading) direction() (descending bool) {
	if len(r.order) == 0 {
		return false
	}
	if r.where == nil {
		panic(invalid("Must have WHERE clause in the statement when using ORDER BY clause."))
	}
	if !r.keyed {
		panic(invalid("Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."))
	}
	for _, o := range r.order {
		switch name := o.by.attribute(); {
		case name == "":
			panic(invalid("Argument to ORDER BY must be of type VariableReference. Type: %s", o.by.orderType()))
		case !r.key.has(name):
			panic(invalid("Variable reference %s in ORDER BY clause must be part of the primary key", name))
		case name == r.key.Sort.Name:
			descending = o.descending
			if o.descending {
				slices.Reverse(r.sorts)
			}
		case o.descending:
			slices.Reverse(r.partitions)
		}
	}
	return descending
}

// orderType is what the service calls something that it does not order by.
func (n *node) orderType() string {
	switch {
	case n.kind == nodePath:
		return "PATH"
	case n.kind == nodeValue && n.value.Kind() == attr.KindS:
		return `"` + n.value.Str() + `"`
	case n.kind == nodeValue:
		return n.value.Str()
	}
	return n.typeName(true)
}
