package partiql

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// maxReads is the maximum number of keys in a SELECT.
const maxReads = 50

// Source is what a SELECT reads from: a table or one of its indexes.
type Source struct {
	Table Key
	Index *Index // nil: the table itself
}

// Index is what a SELECT needs to know of an index.
type Index struct {
	Name  string
	Key   Key
	Shows func(attribute string) bool
}

// key returns the key by which the source is read.
func (s Source) key() Key {
	if s.Index != nil {
		return s.Index.Key
	}
	return s.Table
}

// Read is a compiled SELECT.
type Read struct {
	Key   attr.Item // complete key of an item of the table: a read by key; otherwise nil
	Scan  bool      // the only step is a scan
	Steps []Step    // to be run in order; none: the conditions contradict each other

	Descending bool
	After      *expr.Condition // condition on key attributes, which a query's filter may not name, for the items returned; nil: none
	Columns    *Columns        // nil: all attributes
}

// Step is one query, scan or read by key, with expressions for store/expr.
type Step struct {
	KeyCondition string
	Filter       string
	Projection   string // all needed attributes, each as a whole
	expr.Params
}

// reading is a Read being compiled.
type reading struct {
	*Statement
	source Source
	key    Key
	params []attr.Value

	partitions []attr.Value // possible values of the partition key
	keyed      bool         // partitions is known
	sorts      []attr.Value
	sorted     bool
	anyType    bool    // do not check values against the key's types
	bound      *node   // condition on the sort key, if its values are not known
	filter     []*node // filter of queries and scans
	after      []*node
}

// Read compiles a SELECT.
//
// The partition key is known if WHERE requires it to equal a constant or to be in a list of constants, or consists of such equalities
// joined by OR. Then there is one query per value, and per value of the sort key if that is known too. Otherwise it is a scan.
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
		out.After = must(expr.ParseFilter(text, b.exprParams()))
	}
	out.Steps = r.steps()
	r.byKey(&out)
	return out, nil
}

// SingleItem compiles a SELECT whose WHERE must be the key of one item and nothing else; false if it is not. It does not check the
// values' types.
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

// check refuses paths into a key attribute, which is a scalar.
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

// divide assigns each condition to its use.
func (r *reading) divide() {
	var rest []*node
	for _, c := range r.where.conjuncts() {
		values, ok := r.allowedValues(c, r.key.Partition)
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
	r.refuseUnprojected(rest)
	if len(r.partitions)*max(1, len(r.sorts)) > maxReads {
		panic(invalid("Too many decomposed read operations for a given query."))
	}
}

// place finds the use of a condition if the partition key is known.
func (r *reading) place(c *node) {
	if r.key.Sort.Name != "" {
		if values, ok := r.allowedValues(c, r.key.Sort); ok {
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

// direction evaluates ORDER BY: whether the sort key descends. Ordering by the partition key sets the order of the partitions.
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

// orderType returns the service's name for something that cannot be ordered by.
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
