package edge

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/touchline/touchline/edge/node"
)

// settings calls visit for each setting, with its key.
func (c Config) settings(visit func(key string, f reflect.StructField, v reflect.Value)) {
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for f, field := range v.Fields() {
			tag := f.Tag.Get("yaml")
			switch kind := field.Kind(); {
			case tag == "-":
			case kind == reflect.Struct:
				walk(prefix+tag+".", field)
			case kind == reflect.Map: // sections with names of the operator's
				for name, section := range field.Seq2() {
					walk(prefix+tag+"."+name.String()+".", section)
				}
			default:
				visit(prefix+tag, f, field)
			}
		}
	}
	walk("", reflect.ValueOf(c))
	for _, a := range c.Apps {
		walk(a.Name+".", reflect.ValueOf(a.Settings).Elem())
	}
}

// Values are all settings of a configuration, as text, by key; a list has commas between.
func (c Config) Values() map[string]string {
	out := map[string]string{}
	c.settings(func(key string, _ reflect.StructField, v reflect.Value) {
		out[key] = fmt.Sprint(v.Interface())
		if list, ok := reflect.TypeAssert[[]string](v); ok {
			out[key] = strings.Join(list, ",")
		}
	})
	return out
}

// Keys are the keys that a configuration can have, each with whether its value is a secret. One part of a key is a star where the
// operator gives a name.
func Keys() map[string]bool {
	c, out := DefaultConfig(), map[string]bool{}
	c.Auth.Issuers = map[string]node.IssuerConfig{"*": {}}
	c.settings(func(key string, f reflect.StructField, _ reflect.Value) { out[key] = f.Tag.Get("secret") == "true" })
	return out
}
