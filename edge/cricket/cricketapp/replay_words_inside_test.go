package cricketapp

import "testing"

// Alerts are compared by their facts, not by how they were merged, nor by the balls faced.
func TestFacts(t *testing.T) {
	for text, want := range map[string]string{
		"WICKET! Kohli b Starc 54 (63) · IND 182/5 (32.1)":                                      "WICKET! Kohli b Starc 54 · IND 182/5",
		"2 wickets! Kohli b Starc 54 (63), Rahul run out 12 (10) · IND 182/5 (32.2)":            "WICKET! Rahul run out 12 · IND 182/5",
		"2 wickets! Rohit b Starc 54 (63), Kohli run out 12 (10) · IND 182/6 (32.2)":            "WICKET! Rohit b Starc 54",
		"WICKET! Taylor lbw b Malinga 0 (1), 4 in 4, five for Malinga 5-6 · NZ 15/5 (3)":        "WICKET! Taylor lbw b Malinga 0 · NZ 15/5",
		"WICKET! Rahul lbw b Bumrah 4 (4). KXIP 5 all out (1). MI need 6 to win the super over": "KXIP 5 all out. MI need 6 to win the super over",
		"KXIP 176/6 (20)":          "KXIP 176/6",
		"FIFTY! Gill 50 (41)":      "FIFTY! Gill 50",
		"SIX! FIFTY! Gill 50 (41)": "FIFTY! Gill 50",
		"SIX! Gill · IND 5/0 (1)":  "SIX! Gill · IND 5/0",
		"WICKET! Rahul run out 12 (10), double hundred for Gill 200 (141) · IND 182/5 (32.2)": "WICKET! Rahul run out 12 · IND 182/5",
		"South Africa won by 3 runs (DLS)":   "South Africa won by 3 runs (DLS)",
		"HAT-TRICK! Malinga · NZ 15/3 (2.5)": "HAT-TRICK! Malinga · NZ 15/3",
	} {
		if got := facts("w:1:5", text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	if !sameFacts("WICKET! Rohit b Starc 54", "WICKET! Rohit b Starc 54 · IND 182/5") || sameFacts("WICKET! Rohit b Starc 54", "WICKET! Kohli b Starc 54 · IND 182/5") {
		t.Error("of several wickets in one alert only the last has a score")
	}
	if !sameFacts("SUS 236/5. GLO need 237", "SUS 236/5. GLO need 85 off 7.3") || sameFacts("SUS 236/5. GLO need 237", "SUS 237/5. GLO need 238") {
		t.Error("a target that rain changed is another subject; the score is not")
	}
}
