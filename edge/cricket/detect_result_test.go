package cricket

import "testing"

// The subject of an end has the winner and the margin, or in place of the margin what else decided the match. Words without
// either leave it open.
func TestEndSubject(t *testing.T) {
	for text, want := range map[string]string{
		"England won by 12 runs":               "result/7+12r",
		"England won by an innings and 5 runs": "result/7+inn5r",
		"England won by 3 wickets":             "result/7+3w",
		"England won the Super Over":           "result/7+tied",
		"Match tied (Eng. won the Super Over)": "result/7+tied",
		"England won on boundary count":        "result/7+tied",
		"England won":                          "result/7",
		"England won (D/L method)":             "result/7++dls",
		"England won by 3 wickets (VJD)":       "result/7+3w+vjd",
		"England won the bowl-out":             "result/7+tied",
		"England won (match awarded)":          "result/7+awarded",
		"England won by losing fewer wickets":  "result/7+tied",
	} {
		if got := endSubject(EventResult, 7, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
