package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge"
)

// What the libraries say of a command line reaches nobody in their own terms.
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

// A report says what its keys are, and why an event has no alert.
func TestReplayReport(t *testing.T) {
	r := &edge.ReplayReport{Summary: edge.Summary{Dropped: map[string]int{"merged": 3, "burst": 1}}, PhonesRight: true}
	r.LastWords = &edge.LastWords{Untold: 1, Each: []string{"untold: w:1:2"}}
	r.RecordDiff = &edge.RecordDiff{False: map[string]int{"four": 2}, Each: []string{"false: four"}}
	r.Alerts = []edge.SummaryAlert{{Key: "w:1:1", Text: "WICKET! Perera c Astle b Santner"}}
	var out bytes.Buffer
	if err := printReplay(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"last words of a phone: 0 wrong, 0 false, 1 untold\nuntold: w:1:2\n",
		"events recorded: 0 missing, 2 false\nfalse: four\n",
		"alerts, each after the key of its event:\nw:1:1  WICKET! Perera",
		"events without an alert of their own:\nburst   1  several balls came at once\nmerged  3  another alert at the same moment",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
