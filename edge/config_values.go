package edge

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/touchline/touchline/edge/node"
)

// settings calls visit for each setting, the sections' own too, with its key.
func (c Config) settings(visit func(key string, f reflect.StructField, v reflect.Value)) {
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for f, field := range v.Fields() {
			tag := f.Tag.Get("yaml")
			if tag == "-" {
				continue
			}
			visit(prefix+tag, f, field)
			switch field.Kind() {
			case reflect.Struct:
				walk(prefix+tag+".", field)
			case reflect.Map: // sections with names of the operator's
				for name, section := range field.Seq2() {
					walk(prefix+tag+"."+name.String()+".", section)
				}
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
		list, ok := reflect.TypeAssert[[]string](v)
		switch {
		case ok:
			out[key] = strings.Join(list, ",")
		case v.Kind() != reflect.Struct && v.Kind() != reflect.Map:
			out[key] = fmt.Sprint(v.Interface())
		}
	})
	return out
}

// Keys calls see with every key that a configuration can have. One part of it is a star where the operator gives a name.
func Keys(see func(key string, f reflect.StructField)) {
	c := DefaultConfig()
	c.Auth.Issuers = map[string]node.IssuerConfig{"*": {}}
	c.settings(func(key string, f reflect.StructField, v reflect.Value) {
		if v.Kind() != reflect.Struct && v.Kind() != reflect.Map {
			see(key, f)
		}
	})
}
