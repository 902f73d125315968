//go:build long

package awsclients_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// members returns the types of an attribute's value.
func members() map[string]reflect.Type {
	return map[string]reflect.Type{
		"S": reflect.TypeFor[types.AttributeValueMemberS](), "N": reflect.TypeFor[types.AttributeValueMemberN](),
		"B": reflect.TypeFor[types.AttributeValueMemberB](), "BOOL": reflect.TypeFor[types.AttributeValueMemberBOOL](),
		"NULL": reflect.TypeFor[types.AttributeValueMemberNULL](), "L": reflect.TypeFor[types.AttributeValueMemberL](),
		"M": reflect.TypeFor[types.AttributeValueMemberM](), "SS": reflect.TypeFor[types.AttributeValueMemberSS](),
		"NS": reflect.TypeFor[types.AttributeValueMemberNS](), "BS": reflect.TypeFor[types.AttributeValueMemberBS](),
	}
}

// read converts a JSON value to one of the client's.
func read(from any, to reflect.Value) error {
	switch from := from.(type) {
	case map[string]any:
		return readObject(from, to)
	case []any:
		if to.Kind() != reflect.Slice || to.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		to.Set(reflect.MakeSlice(to.Type(), len(from), len(from)))
		for i, elem := range from {
			if err := read(elem, to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case nil:
		return &unsaidError{"null"}
	default:
		if to.Kind() == reflect.Pointer {
			to.Set(reflect.New(to.Type().Elem()))
			return read(from, to.Elem())
		}
		return readScalar(from, to)
	}
	return &unsaidError{fmt.Sprintf("%T where the client has %s", from, to.Type())}
}

func readObject(from map[string]any, to reflect.Value) error {
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return readObject(from, to.Elem())
	case reflect.Interface:
		return readUnion(from, to)
	case reflect.Map:
		to.Set(reflect.MakeMap(to.Type()))
		for name, v := range from {
			elem := reflect.New(to.Type().Elem()).Elem()
			if err := read(v, elem); err != nil {
				return err
			}
			to.SetMapIndex(reflect.ValueOf(name), elem)
		}
		return nil
	case reflect.Struct:
		for name, v := range from {
			field := to.FieldByName(name)
			if !field.IsValid() || !field.CanSet() {
				return &unsaidError{"no member " + name}
			}
			if err := read(v, field); err != nil {
				return err
			}
		}
		return nil
	default:
		return &unsaidError{"an object where the client has " + to.Type().String()}
	}
}

// readUnion converts an attribute's value.
func readUnion(from map[string]any, to reflect.Value) error {
	for name, v := range from {
		kind, ok := members()[name]
		if !ok || len(from) != 1 {
			break
		}
		member := reflect.New(kind)
		if err := read(v, member.Elem().FieldByName("Value")); err != nil {
			return err
		}
		to.Set(member)
		return nil
	}
	return &unsaidError{"a value that is not of one kind"}
}

func readScalar(from any, to reflect.Value) error {
	switch v := from.(type) {
	case string:
		if to.Kind() == reflect.String {
			to.SetString(v)
			return nil
		}
		if to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8 {
			data, err := base64.StdEncoding.Strict().DecodeString(v)
			if err != nil {
				return &unsaidError{err.Error()}
			}
			to.SetBytes(data)
			return nil
		}
	case bool:
		if to.Kind() == reflect.Bool {
			to.SetBool(v)
			return nil
		}
	case json.Number:
		n, err := v.Int64()
		if err == nil && to.CanInt() && !to.OverflowInt(n) {
			to.SetInt(n)
			return nil
		}
	}
	return &unsaidError{fmt.Sprintf("%T where the client has %s", from, to.Type())}
}

// written converts a value of the client to JSON; nil: it is absent.
func written(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if at, ok := reflect.TypeAssert[*time.Time](v); ok {
			return float64(at.UnixMilli()) / 1000
		}
		return written(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		for name, kind := range members() {
			if member := v.Elem().Elem(); member.Type() == kind {
				return map[string]any{name: written(member.FieldByName("Value"))}
			}
		}
		return nil
	case reflect.Slice:
		return writtenSlice(v)
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		out := map[string]any{}
		for _, name := range v.MapKeys() {
			out[name.String()] = written(v.MapIndex(name))
		}
		return out
	case reflect.Struct:
		return writtenStruct(v)
	default:
		return v.Interface()
	}
}

func writtenSlice(v reflect.Value) any {
	if v.IsNil() {
		return nil
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return base64.StdEncoding.EncodeToString(v.Bytes())
	}
	out := []any{}
	for i := range v.Len() {
		out = append(out, written(v.Index(i)))
	}
	return out
}

func writtenStruct(v reflect.Value) any {
	out := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || field.Name == "ResultMetadata" {
			continue
		}
		member := written(v.Field(i))
		if text, ok := member.(string); ok && text == "" && field.Type.Kind() == reflect.String {
			continue // an enumeration that was not sent
		}
		if v.Field(i).Kind() == reflect.String {
			member = v.Field(i).String()
		}
		if member != nil {
			out[field.Name] = member
		}
	}
	return out
}
