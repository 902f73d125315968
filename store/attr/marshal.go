package attr

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// Types that are values by themselves, whatever their reflect.Kind.
var (
	timeType  = reflect.TypeFor[time.Time]()
	valueType = reflect.TypeFor[Value]()
)

// Marshal converts a struct, or a map with string keys, to an item. A field's name is that in its tag `dynamodbav:"name,omitempty"`, or
// its Go name; "-" leaves the field out. Fields of embedded structs count as the struct's own. Strings become S, integers and floats N,
// times S (YYYY-MM-DDTHH:MM:SS.mmmZ), []byte B, other slices and arrays L, structs and maps M, nil pointers and interfaces NULL. A nil
// slice or map becomes an empty one. A Value stays as it is, and is left out if absent. omitempty leaves out false, 0, "", nil pointers,
// empty slices and maps, and the zero time.
func Marshal(v any) (Item, error) {
	val, err := marshal(reflect.ValueOf(v), 0)
	if err != nil {
		return nil, err
	}
	if val.kind != KindM {
		return nil, fmt.Errorf("attr: marshal: a %T is not an item", v)
	}
	return val.Map(), nil
}

// MarshalValue converts a Go value to a Value, by the rules of Marshal.
func MarshalValue(v any) (Value, error) {
	return marshal(reflect.ValueOf(v), 1)
}

// marshal converts v, which is at the given nesting level; an item itself is at level 0.
func marshal(v reflect.Value, level int) (Value, error) {
	if level > maxLevel {
		return Value{}, tooDeep()
	}
	if !v.IsValid() {
		return Null(), nil
	}
	switch v.Type() {
	case timeType:
		return marshalTime(v.Interface().(time.Time))
	case valueType:
		return v.Interface().(Value), nil
	}
	switch v.Kind() {
	case reflect.String:
		return S(v.String()), nil
	case reflect.Bool:
		return Bool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Int(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return N(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		return N(strconv.FormatFloat(v.Float(), 'e', -1, v.Type().Bits()))
	case reflect.Pointer, reflect.Interface:
		return marshal(v.Elem(), level)
	case reflect.Slice, reflect.Array:
		return marshalList(v, level)
	case reflect.Map:
		return marshalMap(v, level)
	case reflect.Struct:
		return marshalStruct(v, level)
	default:
		return Value{}, fmt.Errorf("there is no value for a %s", v.Type())
	}
}

func marshalTime(t time.Time) (Value, error) {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return Value{}, fmt.Errorf("the year %d does not have four digits", y)
	}
	return Time(t), nil
}

func marshalList(v reflect.Value, level int) (Value, error) {
	if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
		return B(v.Bytes()), nil
	}
	list := make([]Value, v.Len())
	for i := range list {
		elem, err := marshal(v.Index(i), level+1)
		if err == nil && elem.IsZero() {
			err = errors.New("an absent value in a list")
		}
		if err != nil {
			return Value{}, atIndex(err, i)
		}
		list[i] = elem
	}
	return L(list...), nil
}

func marshalMap(v reflect.Value, level int) (Value, error) {
	if v.Type().Key().Kind() != reflect.String {
		return Value{}, fmt.Errorf("the keys of a %s are not strings", v.Type())
	}
	it := make(Item, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		name := iter.Key().String()
		elem, err := marshal(iter.Value(), level+1)
		if err != nil {
			return Value{}, atName(err, name)
		}
		if !elem.IsZero() {
			it[name] = elem
		}
	}
	return M(it), nil
}

func marshalStruct(v reflect.Value, level int) (Value, error) {
	p, err := planOf(v.Type())
	if err != nil {
		return Value{}, err
	}
	it := make(Item, len(p.fields))
	for i := range p.fields {
		f := &p.fields[i]
		field := v.FieldByIndex(f.index)
		if f.omitEmpty && isEmpty(field) {
			continue
		}
		elem, err := marshal(field, level+1)
		if err != nil {
			return Value{}, atName(err, f.name)
		}
		if !elem.IsZero() {
			it[f.name] = elem
		}
	}
	return M(it), nil
}

// isEmpty reports whether omitempty leaves a field out. A struct other than a time is never empty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return v.Type() == timeType && v.Interface().(time.Time).IsZero()
	default:
		return v.IsZero()
	}
}
