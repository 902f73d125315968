package edge

import (
	"fmt"
	"reflect"
	"strings"
)

// settings calls visit for each setting, the sections' own too, with its key.
func (c Config) settings(visit func(key string, f reflect.StructField, v reflect.Value)) {
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for f, field := range v.Fields() {
			tag := f.Tag.Get("koanf")
			if tag == "-" {
				continue
			}
			visit(prefix+tag, f, field)
			if field.Kind() == reflect.Struct {
				walk(prefix+tag+".", field)
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
		case v.Kind() != reflect.Struct:
			out[key] = fmt.Sprint(v.Interface())
		}
	})
	return out
}

// Secrets are the keys whose values are never shown.
func (c Config) Secrets() (keys []string) {
	c.settings(func(key string, f reflect.StructField, _ reflect.Value) {
		if f.Tag.Get("secret") == "true" {
			keys = append(keys, key)
		}
	})
	return keys
}
