package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge"
)

// flatten gives every value of a configuration by its key.
func flatten(c edge.Config) map[string]string {
	out := map[string]string{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for f, field := range v.Fields() {
			key := prefix + f.Tag.Get("koanf")
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
	return out
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
