package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge"
)

// secrets are the keys whose values are never shown.
func secrets() (out []string) {
	edge.Keys(func(key string, f reflect.StructField) {
		if f.Tag.Get("secret") == "true" {
			out = append(out, key)
		}
	})
	return out
}

func isSecret(key string) bool {
	return slices.ContainsFunc(secrets(), func(secret string) bool { _, ok := named(secret, key); return ok })
}

// named reports whether a key is one of a pattern, and which name the operator has put in the place of the star.
func named(pattern, key string) (name string, ok bool) {
	before, after, has := strings.Cut(pattern, "*")
	if !has {
		return "", pattern == key
	}
	rest, ok := strings.CutPrefix(key, before)
	name, in := strings.CutSuffix(rest, after)
	return name, ok && in && name != "" && !strings.Contains(name, ".")
}

// name gives a section with a name of the operator's its keys, when the first of them comes up.
func (l *loader) name(key string) {
	edge.Keys(func(pattern string, _ reflect.StructField) {
		name, ok := named(pattern, key)
		if !ok || name == "" || l.k.Exists(key) {
			return
		}
		edge.Keys(func(also string, f reflect.StructField) {
			if before, after, _ := strings.Cut(also, "*"); after != "" && strings.HasPrefix(pattern, before) {
				l.sources[before+name+after] = "default"
				_ = l.k.Set(before+name+after, reflect.Zero(f.Type).Interface()) // a key that is not empty can be set
			}
		})
	})
}
