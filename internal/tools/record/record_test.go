package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// match is a file in the source's form, as small as can be.
const match = `{"info":{"balls_per_over":6,"dates":["2020-01-01"],"event":{"name":"Cup"},
 "gender":"male","match_type":"T20","outcome":{"result":"no result"},"overs":20,
 "players":{"Blues":["A B","K L"],"Reds":["C D"]},
 "registry":{"people":{"A B":"00000001","K L":"00000002","C D":"00000003"}},
 "season":2020,"team_type":"club","teams":["Blues","Reds"],"toss":{"decision":"field","winner":"Reds"},"venue":"Park"},
"innings":[{"team":"Blues","overs":[{"over":0,"deliveries":[
   {"batter":"A B","bowler":"C D","non_striker":"K L","runs":{"batter":4,"extras":0,"total":4}}]}]}]}`

func TestRun(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	why, err := json.Marshal([]map[string]string{{"id": "7", "why": "it is small"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"7.json": match, "MANIFEST.json": string(why), "README.md": "no match"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(from, to); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(filepath.Join(to, "7.match"))
	if err != nil || !strings.Contains(string(out), "why it is small\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(from, "8.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(from, to); err == nil || !strings.Contains(err.Error(), "8.json") {
		t.Errorf("a file that is no match: %v", err)
	}
}
