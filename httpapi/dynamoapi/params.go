package dynamoapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/legacy"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// params are the names and values that a request's expressions share.
type params struct {
	names  wire.Opt[map[string]string]
	values wire.Opt[map[string]wire.Value]
	alone  bool // report a bad number without the name of its value, like the service's newer checks
}

func (p *params) members(m *wire.Member) {
	m.TextMap("ExpressionAttributeNames", &p.names)
	m.Read("ExpressionAttributeValues", func(d *wire.Decoder) {
		p.values = wire.Opt[map[string]wire.Value]{V: map[string]wire.Value{}, Set: true}
		d.Map("com.amazonaws.dynamodb.v20120810.AttributeValue", func(key string) {
			var v wire.Value
			d.Value(&v)
			p.values.V[key] = v
		})
	})
}

// maxValues limits the total size in bytes of the expressions' values, and so the cost of comparing them.
const maxValues = 2 << 20

// expression is an expression of a request, with the name of its parameter.
type expression struct {
	name string
	text wire.Opt[string]
}

// check refuses expressions beside legacy parameters, and names or values without expressions. The lists are in the service's order.
func (p *params) check(expressions []expression, legacy ...string) error {
	var given []string
	withValues := []string{}
	anyWithValues := false
	for _, e := range expressions {
		if e.text.Set {
			given = append(given, e.name)
		}
		if e.name != "ProjectionExpression" {
			withValues = append(withValues, e.name)
			anyWithValues = anyWithValues || e.text.Set
		}
	}
	switch {
	case len(given) > 0 && len(legacy) > 0:
		return errValidation("Can not use both expression and non-expression parameters in the same request: "+
			"Non-expression parameters: {%s} Expression parameters: {%s}", strings.Join(legacy, ", "), strings.Join(given, ", "))
	case len(given) == 0 && p.names.Set:
		return errValidation("ExpressionAttributeNames can only be specified when using expressions")
	case len(withValues) > 0 && p.values.Set && !anyWithValues:
		is := "is"
		if len(withValues) > 1 {
			is = "are"
		}
		return errValidation("ExpressionAttributeValues can only be specified when using expressions: %s %s null",
			strings.Join(withValues, " and "), is)
	}
	return nil
}

// bind checks names, values and whether expressions are empty, and returns the names and values for the store. Call it after the checks
// of the request's other values.
func (p *params) bind(expressions ...expression) (expr.Params, error) {
	out := expr.Params{Names: p.names.V}
	if p.names.Set && len(p.names.V) == 0 {
		return out, errValidation("ExpressionAttributeNames must not be empty")
	}
	if p.values.Set {
		if len(p.values.V) == 0 {
			return out, p.badKey(errValidation("ExpressionAttributeValues must not be empty"))
		}
		out.Values = make(attr.Item, len(p.values.V))
		size := 0
		for name, v := range p.values.V {
			if size += attr.SizeOf(v.V); size > maxValues {
				return out, errValidation("ExpressionAttributeValues exceeds the maximum size of %d bytes", maxValues)
			}
			out.Values[name] = v.V
			if v.Err != nil {
				return out, p.badKey(p.badValue())
			}
		}
	}
	for i, e := range expressions {
		if !e.text.Set || e.text.V != "" {
			continue
		}
		err := faulty(expressions[:i], out)
		if err == nil {
			err = errValidation("Invalid %s: The expression can not be empty;", e.name)
		}
		return out, p.badKey(err)
	}
	return out, nil
}

// faulty returns the first error in the expressions of a read. The store would find it too, but the service reports it before the error
// of an empty expression that follows.
func faulty(expressions []expression, params expr.Params) error {
	for _, e := range expressions {
		var err error
		switch {
		case !e.text.Set:
		case e.name == "KeyConditionExpression":
			err = expr.CheckKeyCondition(e.text.V, params)
		case e.name == "FilterExpression":
			_, err = expr.ParseFilter(e.text.V, params)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// projectionOf returns the projection of a read, from ProjectionExpression or AttributesToGet.
func (p *params) projectionOf(projection wire.Opt[string], old *legacyParams) (string, expr.Params, error) {
	if err := old.checkAttributes(); err != nil {
		return "", expr.Params{}, err
	}
	bound, err := p.bind(expression{"ProjectionExpression", projection})
	if err != nil || !old.attributes.Set {
		return projection.V, bound, err
	}
	b := legacy.NewBuilder(bound)
	return b.Projection(old.attributes.V), b.Params(), nil
}

// badKey returns the error of an invalid name or placeholder if there is one, otherwise found. The store would find it too, but the
// service reports it first.
func (p *params) badKey(found error) error {
	placeholders := make(attr.Item, len(p.values.V))
	for name := range p.values.V {
		placeholders[name] = attr.Null()
	}
	if err := (expr.Params{Names: p.names.V, Values: placeholders}).Check(); err != nil {
		return err
	}
	return found
}

// badValue returns the error of the first invalid value, ordered by name.
func (p *params) badValue() error {
	for _, name := range slices.Sorted(maps.Keys(p.values.V)) {
		if err := p.values.V[name].Err; err != nil {
			if p.alone && isNumber(err) {
				return err
			}
			return errValidation("ExpressionAttributeValues contains invalid value: %s for key %s", err, name)
		}
	}
	return nil
}
