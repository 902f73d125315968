package main

import (
	"path"
	"strings"

	"github.com/touchline/touchline/edge"
)

// setting reports whether a configuration key exists, where "*" in edge.Keys matches a name that the operator chose, and whether its
// value is secret.
func setting(key string) (has, secret bool) {
	for pattern, secret := range edge.Keys() {
		has, _ := path.Match(strings.ReplaceAll(pattern, ".", "/"), strings.ReplaceAll(key, ".", "/")) // the pattern is valid
		if has {
			return true, secret
		}
	}
	return false, false
}

func isSecret(key string) bool {
	_, secret := setting(key)
	return secret
}

// isKnownKey reports whether a configuration key exists, including KEY_file, which names a file with the value of a secret.
func isKnownKey(key string) bool {
	has, _ := setting(key)
	secret, inFile := strings.CutSuffix(key, "_file")
	return has || inFile && isSecret(secret)
}

// suggestVariable suggests the variable for a key whose sections are joined by one underscore instead of two.
func suggestVariable(key string) string {
	for other := range edge.Keys() {
		if strings.ReplaceAll(other, ".", "_") == key {
			return " (did you mean " + envPrefix + strings.ToUpper(strings.ReplaceAll(other, ".", "__")) + "?)"
		}
	}
	return ""
}
