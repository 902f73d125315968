package dynamo

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/store/attr"
)

// Conversion between the SDK's values and ours. Numbers are text on both sides and stay exact. An empty list, map or binary is
// never nil, because the SDK would write nil as no value at all.

// toItem returns the SDK's form of an item, or nil for nil.
func toItem(it attr.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	out := make(map[string]types.AttributeValue, len(it))
	for name, v := range it {
		out[name] = toValue(v)
	}
	return out
}

func toValue(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.KindS:
		return &types.AttributeValueMemberS{Value: v.Str()}
	case attr.KindN:
		return &types.AttributeValueMemberN{Value: v.Str()}
	case attr.KindB:
		return &types.AttributeValueMemberB{Value: emptyIfNil(v.Bytes())}
	case attr.KindBool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.KindL:
		list := v.List()
		out := make([]types.AttributeValue, len(list))
		for i, e := range list {
			out[i] = toValue(e)
		}
		return &types.AttributeValueMemberL{Value: out}
	case attr.KindM:
		m := toItem(v.Map())
		if m == nil {
			m = map[string]types.AttributeValue{}
		}
		return &types.AttributeValueMemberM{Value: m}
	case attr.KindSS:
		return &types.AttributeValueMemberSS{Value: v.Strs()}
	case attr.KindNS:
		return &types.AttributeValueMemberNS{Value: v.Strs()}
	case attr.KindBS:
		return &types.AttributeValueMemberBS{Value: v.ByteSets()}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

func emptyIfNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// fromItem returns our form of an item, or nil if there is none; an item is never empty. If any part of it is invalid the whole
// item is an error.
func fromItem(in map[string]types.AttributeValue) (attr.Item, error) {
	if len(in) == 0 {
		return nil, nil
	}
	return fromMap(in)
}

func fromItems(in []map[string]types.AttributeValue) ([]attr.Item, error) {
	out := make([]attr.Item, len(in))
	for i, it := range in {
		var err error
		if out[i], err = fromMap(it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func fromMap(in map[string]types.AttributeValue) (attr.Item, error) {
	out := make(attr.Item, len(in))
	for name, v := range in {
		got, err := fromValue(v)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		out[name] = got
	}
	return out, nil
}

func fromValue(v types.AttributeValue) (attr.Value, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return attr.S(v.Value), nil
	case *types.AttributeValueMemberN:
		return attr.N(v.Value)
	case *types.AttributeValueMemberB:
		return attr.B(v.Value), nil
	case *types.AttributeValueMemberBOOL:
		return attr.Bool(v.Value), nil
	case *types.AttributeValueMemberNULL:
		return attr.Null(), nil
	case *types.AttributeValueMemberL:
		elems := make([]attr.Value, len(v.Value))
		for i, e := range v.Value {
			var err error
			if elems[i], err = fromValue(e); err != nil {
				return attr.Value{}, err
			}
		}
		return attr.L(elems...), nil
	case *types.AttributeValueMemberM:
		m, err := fromMap(v.Value)
		return attr.M(m), err
	case *types.AttributeValueMemberSS:
		return attr.SS(v.Value...)
	case *types.AttributeValueMemberNS:
		return attr.NS(v.Value...)
	case *types.AttributeValueMemberBS:
		return attr.BS(v.Value...)
	}
	return attr.Value{}, fmt.Errorf("unknown value type %T", v)
}
