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
	return slices.ContainsFunc(secrets(), func(secret string) bool { return named(secret, key) })
}

// named reports whether a key is one of a pattern, with a name of the operator's own in the place of the star.
func named(pattern, key string) bool {
	before, after, has := strings.Cut(pattern, "*")
	if !has {
		return pattern == key
	}
	rest, ok := strings.CutPrefix(key, before)
	name, in := strings.CutSuffix(rest, after)
	return ok && in && name != "" && !strings.Contains(name, ".")
}

// known reports whether a configuration can have a key, or a secret by the file that the key with _file after it names.
func known(key string) (has bool) {
	edge.Keys(func(pattern string, _ reflect.StructField) {
		has = has || named(pattern, key)
	})
	secret, inFile := strings.CutSuffix(key, "_file")
	return has || inFile && isSecret(secret)
}

// meant suggests the variable for a key whose sections were joined by one underscore.
func meant(key string) (hint string) {
	edge.Keys(func(other string, _ reflect.StructField) {
		if strings.ReplaceAll(other, ".", "_") == key {
			hint = " (did you mean " + envPrefix + strings.ToUpper(strings.ReplaceAll(other, ".", "__")) + "?)"
		}
	})
	return hint
}
