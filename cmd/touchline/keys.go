package main

import (
	"path"
	"strings"

	"github.com/touchline/touchline/edge"
)

// setting reports whether a configuration can have a key, with a name of the operator's own in the place of a star, and whether
// its value is never shown.
func setting(key string) (has, secret bool) {
	for pattern, secret := range edge.Keys() {
		has, _ := path.Match(strings.ReplaceAll(pattern, ".", "/"), strings.ReplaceAll(key, ".", "/")) // the pattern is good
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

// known reports whether a configuration can have a key, or a secret by the file that the key with _file after it names.
func known(key string) bool {
	has, _ := setting(key)
	secret, inFile := strings.CutSuffix(key, "_file")
	return has || inFile && isSecret(secret)
}

// meant suggests the variable for a key whose sections were joined by one underscore.
func meant(key string) string {
	for other := range edge.Keys() {
		if strings.ReplaceAll(other, ".", "_") == key {
			return " (did you mean " + envPrefix + strings.ToUpper(strings.ReplaceAll(other, ".", "__")) + "?)"
		}
	}
	return ""
}
