package cli

import (
	"errors"
	"testing"
)

// Errors of the libraries about a command line are always reworded.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"requires at least 1 arg(s), only received 0": "the command needs an argument",
		"accepts 1 arg(s), received 2":                "wrong number of arguments",
		`invalid argument "-1" for "--faults" flag: strconv.ParseUint: parsing "-1": invalid syntax`:                        `invalid argument "-1" for "--faults" flag: it is not a valid number`,
		`invalid argument "99999999999" for "--restarts" flag: strconv.ParseInt: parsing "99999999999": value out of range`: `invalid argument "99999999999" for "--restarts" flag: it is too large or too small`,
		"unknown flag: --fault": "unknown flag: --fault",
	} {
		if got := plain(errors.New(text)).Error(); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
