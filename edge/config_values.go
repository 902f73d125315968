package edge

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/touchline/touchline/edge/node"
)

// settings calls visit with each setting and its key.
func (c Config) settings(visit func(key string, f reflect.StructField, v reflect.Value)) {
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for f, field := range v.Fields() {
			tag := f.Tag.Get("yaml")
			switch kind := field.Kind(); {
			case tag == "-":
			case f.Anonymous:
				walk(prefix, field)
			case kind == reflect.Struct:
				walk(prefix+tag+".", field)
			case kind == reflect.Map: // sections named by the operator
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

// Values returns all settings as text, by key. Lists are joined by commas.
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

// Keys returns every possible key, and whether its value is secret. "*" in a key stands for a name that the operator chooses.
func Keys() map[string]bool {
	c, out := DefaultConfig(), map[string]bool{}
	c.Auth.Issuers = map[string]node.IssuerConfig{"*": {}}
	c.settings(func(key string, f reflect.StructField, _ reflect.Value) { out[key] = f.Tag.Get("secret") == "true" })
	return out
}
