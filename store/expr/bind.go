package expr

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// Request holds all expressions of one request with their parameters. An empty string means no expression.
type Request struct {
	Update       string
	Condition    string
	KeyCondition string
	Filter       string
	Projection   string

	Key *Key // the key that KeyCondition is about
	Params

	Work *Work // budget of the parsing; nil: no limit
}

// Bound is a request whose expressions are ready to run. Expressions not in the request are nil; Key is then the zero KeyRange.
type Bound struct {
	Update     *Update
	Condition  *Condition
	Key        KeyRange
	Filter     *Condition
	Projection *Projection
}

// form is the role of an expression in a request. Its error messages begin with the name.
type form string

const (
	formUpdate     form = "UpdateExpression"
	formCondition  form = "ConditionExpression"
	formKey        form = "KeyConditionExpression"
	formFilter     form = "FilterExpression"
	formProjection form = "ProjectionExpression"
)

func (f form) grammar() grammar {
	switch f {
	case formUpdate:
		return grammarUpdate
	case formProjection:
		return grammarProjection
	}
	return grammarCondition
}

// invalid returns the error of a request that DynamoDB refuses, with its text. To repeat the same request is of no use.
func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// wrapError wraps an error with the name of the expression it is about.
func (f form) wrapError(why error) error { return invalid("Invalid %s: %s", f, why) }

// Bind is Cache.Bind without a cache.
func Bind(r Request) (Bound, error) { return (*Cache)(nil).Bind(r) }

// Bind parses all expressions of a request and binds its parameters. It refuses what DynamoDB refuses before it looks at an item: syntax
// errors, undefined placeholders, and names and values that no expression uses. For example, "#n = :v" without a ":v" in Values is
// refused, and so is a ":w" in Values that no expression mentions.
func (c *Cache) Bind(r Request) (Bound, error) {
	b := binder{cache: c, params: r.Params, work: r.Work}
	if err := r.Params.Check(); err != nil {
		return Bound{}, err
	}
	var out Bound
	var key *Condition
	var err error
	if r.Update != "" {
		out.Update, err = b.update(r.Update)
	}
	if r.Condition != "" && err == nil {
		out.Condition, err = b.condition(formCondition, r.Condition)
	}
	if r.KeyCondition != "" && err == nil {
		key, err = b.condition(formKey, r.KeyCondition)
	}
	if r.Filter != "" && err == nil {
		out.Filter, err = b.condition(formFilter, r.Filter)
	}
	if r.Projection != "" && err == nil {
		out.Projection, err = b.projection(r.Projection)
	}
	if err == nil {
		err = b.refuseUnused()
	}
	if key != nil && err == nil {
		out.Key, err = key.keyRange(r.Key)
	}
	if err != nil {
		return Bound{}, err
	}
	return out, nil
}

// binder binds the expressions of one request to its parameters and remembers the expressions, to find unused parameters.
type binder struct {
	cache  *Cache
	params Params
	work   *Work
	done   [5]*parsed
	count  int
}

// binding holds what the placeholders of one expression stand for, by number.
type binding struct {
	names  []string
	values []attr.Value
}

// bind parses a text and looks up its placeholders. Undefined ones stay empty until a checker refuses them.
func (b *binder) bind(f form, text string) (*parsed, binding, error) {
	p, err := b.cache.parse(f.grammar(), text, b.params.Long, b.work)
	if b.work.Err() != nil {
		return nil, binding{}, b.work.Err()
	}
	if err != nil {
		return nil, binding{}, f.wrapError(err)
	}
	b.done[b.count] = p
	b.count++
	var bound binding
	if len(p.names) > 0 {
		bound.names = make([]string, len(p.names))
	}
	for i, placeholder := range p.names {
		bound.names[i] = b.params.Names[placeholder]
	}
	if len(p.values) > 0 {
		bound.values = make([]attr.Value, len(p.values))
	}
	for i, placeholder := range p.values {
		bound.values[i] = b.params.Values[placeholder]
	}
	return p, bound, nil
}

// refuseUnused refuses parameters that no expression uses.
func (b *binder) refuseUnused() error {
	if b.count == 0 {
		return b.pointless()
	}
	for _, set := range []struct {
		title string
		keys  []string
	}{
		{"ExpressionAttributeNames", unusedKeys(b, b.params.Names)},
		{"ExpressionAttributeValues", unusedKeys(b, b.params.Values)},
	} {
		if len(set.keys) > 0 {
			slices.Sort(set.keys)
			return invalid("Value provided in %s unused in expressions: keys: {%s}", set.title, strings.Join(set.keys, ", "))
		}
	}
	return nil
}

func unusedKeys[V any](b *binder, params map[string]V) []string {
	var keys []string
	for key := range params {
		if !b.uses(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (b *binder) uses(placeholder string) bool {
	return slices.ContainsFunc(b.done[:b.count], func(p *parsed) bool {
		_, ok := p.number[placeholder]
		return ok
	})
}

// pointless refuses parameters of a request without expressions.
func (b *binder) pointless() error {
	if len(b.params.Names) > 0 {
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if len(b.params.Values) > 0 {
		return invalid("ExpressionAttributeValues can only be specified when using expressions")
	}
	return nil
}
