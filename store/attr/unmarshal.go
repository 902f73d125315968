package attr

import (
	"fmt"
	"reflect"
	"strconv"
)

// Unmarshal sets the struct or map that v points to from an item, by the rules of Marshal. It ignores attributes that the struct does not
// have, leaves fields without an attribute as they are, and sets fields of NULL attributes to zero. It also reads sets into slices. A
// type that does not fit, and a number out of the field's range or with a fraction for an integer field, are errors that name the path.
// Their kind is fault.Internal, because the row is not what the code expects.
func Unmarshal(it Item, v any) error { return UnmarshalValue(M(it), v) }

// UnmarshalValue sets what v points to from a value, by the rules of Unmarshal.
func UnmarshalValue(val Value, v any) error {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("attr: unmarshal needs a pointer, not a %T", v)
	}
	return unmarshal(val, target.Elem())
}

func unmarshal(val Value, v reflect.Value) error {
	t := v.Type()
	if t == valueType {
		v.Set(reflect.ValueOf(val))
		return nil
	}
	if val.kind == KindNull || val.kind == 0 {
		v.SetZero()
		return nil
	}
	if t == timeType {
		return unmarshalTime(val, v)
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(t.Elem()))
		}
		return unmarshal(val, v.Elem())
	case reflect.Slice, reflect.Array:
		return unmarshalList(val, v)
	case reflect.Map:
		return unmarshalMap(val, v)
	case reflect.Struct:
		return unmarshalStruct(val, v)
	default:
		return unmarshalScalar(val, v)
	}
}

func unmarshalScalar(val Value, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if val.kind == KindS {
			v.SetString(val.text)
			return nil
		}
	case reflect.Bool:
		if val.kind == KindBool {
			v.SetBool(val.flag)
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if val.kind == KindN {
			n, err := strconv.ParseInt(val.text, 10, v.Type().Bits())
			v.SetInt(n)
			return inexact(err, val, v)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if val.kind == KindN {
			n, err := strconv.ParseUint(val.text, 10, v.Type().Bits())
			v.SetUint(n)
			return inexact(err, val, v)
		}
	case reflect.Float32, reflect.Float64:
		if val.kind == KindN {
			f, err := strconv.ParseFloat(val.text, v.Type().Bits())
			v.SetFloat(f)
			return inexact(err, val, v)
		}
	default:
		return fmt.Errorf("a %s cannot be set from a value", v.Type())
	}
	return mismatch(val, v)
}

// inexact converts an error of strconv to one about the field, and resets a partly parsed result.
func inexact(err error, val Value, v reflect.Value) error {
	if err == nil {
		return nil
	}
	v.SetZero()
	return fmt.Errorf("the number %s does not fit a %s", val.text, v.Type())
}

func mismatch(val Value, v reflect.Value) error {
	return fmt.Errorf("a value of type %s does not fit a %s", val.kind, v.Type())
}

func unmarshalTime(val Value, v reflect.Value) error {
	if val.kind != KindS {
		return mismatch(val, v)
	}
	t, err := parseTime(val.text)
	if err != nil {
		return fmt.Errorf("%q is not a time", val.text)
	}
	v.Set(reflect.ValueOf(t))
	return nil
}

func unmarshalList(val Value, v reflect.Value) error {
	if val.kind == KindB && v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(val.Bytes())
		return nil
	}
	elems, ok := val.elems()
	if !ok {
		return mismatch(val, v)
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(elems), len(elems)))
	} else if v.Len() != len(elems) {
		return fmt.Errorf("%d values do not fit a %s", len(elems), v.Type())
	}
	for i, elem := range elems {
		if err := unmarshal(elem, v.Index(i)); err != nil {
			return atIndex(err, i)
		}
	}
	return nil
}

// elems returns the elements of a list, or the members of a set as values; false for other types.
func (v Value) elems() ([]Value, bool) {
	kind := KindS
	switch v.kind {
	case KindL:
		return v.List(), true
	case KindSS:
	case KindNS:
		kind = KindN
	case KindBS:
		kind = KindB
	default:
		return nil, false
	}
	elems := make([]Value, len(v.set()))
	for i, member := range v.set() {
		elems[i] = Value{kind: kind, text: member}
	}
	return elems, true
}

func unmarshalMap(val Value, v reflect.Value) error {
	t := v.Type()
	if val.kind != KindM || t.Key().Kind() != reflect.String {
		return mismatch(val, v)
	}
	out := reflect.MakeMapWithSize(t, len(val.Map()))
	for name, elem := range val.Map() {
		field := reflect.New(t.Elem()).Elem()
		if err := unmarshal(elem, field); err != nil {
			return atName(err, name)
		}
		out.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), field)
	}
	v.Set(out)
	return nil
}

func unmarshalStruct(val Value, v reflect.Value) error {
	if val.kind != KindM {
		return mismatch(val, v)
	}
	p, err := planOf(v.Type())
	if err != nil {
		return err
	}
	it := val.Map()
	for i := range p.fields {
		f := &p.fields[i]
		elem, ok := it[f.name]
		if !ok {
			continue
		}
		if err := unmarshal(elem, v.FieldByIndex(f.index)); err != nil {
			return atName(err, f.name)
		}
	}
	return nil
}
