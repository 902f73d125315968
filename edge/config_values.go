package edge

import (
	"fmt"
	"reflect"
	"strings"
)

// Values are all settings of a configuration, as text, by key; a list has commas between.
func (c Config) Values() map[string]string {
	out := map[string]string{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for f, field := range v.Fields() {
			tag := f.Tag.Get("koanf")
			if tag == "-" {
				continue
			}
			key := prefix + tag
			if field.Kind() == reflect.Struct {
				walk(key+".", field)
				continue
			}
			if list, ok := reflect.TypeAssert[[]string](field); ok {
				out[key] = strings.Join(list, ",")
				continue
			}
			out[key] = fmt.Sprint(field.Interface())
		}
	}
	walk("", reflect.ValueOf(c))
	for _, a := range c.Apps {
		walk(a.Name+".", reflect.ValueOf(a.Settings).Elem())
	}
	return out
}
