package threefc

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// A user's text in a message is one short line, and nothing in it becomes a link.
func TestUsersTextInMail(t *testing.T) {
	for text, want := range map[string]string{
		"Sunday League":                     "Sunday League",
		" St. Pauli, 3. Liga ":              "St. Pauli, 3. Liga",
		"see https://evil.example/x?y=1":    "see https evil example x?y=1",
		"www.evil.example":                  "www evil example",
		"evil\u3002example":                 "evil example",
		"evil.\u200bexample":                "evil example",
		"10.0.0.1, a@b.c":                   "10 0 0 1, a b c",
		"one\nBcc: two\r\nthree":            "one Bcc two three",
		"\"quoted\" <b>":                    "quoted b",
		strings.Repeat("é", 70):             strings.Repeat("é", 59) + "…",
		strings.Repeat("word ", 20) + "end": strings.TrimSpace(strings.Repeat("word ", 12)[:59]) + "…",
	} {
		if got := inMail(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		got := inMail(rapid.StringOf(rapid.SampledFrom([]rune("ab .:/@\u3002\uff0e\u200b\n\""))).Draw(t, "text"))
		if utf8.RuneCountInString(got) > maxInMail || strings.ContainsAny(got, ":/@\n\"") {
			t.Errorf("%q", got)
		}
		for _, dot := range []string{".", "\u3002", "\uff0e"} {
			for _, letter := range []string{"a", "b"} {
				if strings.Contains(got, dot+letter) {
					t.Errorf("a name of a host: %q", got)
				}
			}
		}
	})
}
