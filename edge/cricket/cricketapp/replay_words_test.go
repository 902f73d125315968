package cricketapp_test

import (
	"testing"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
)

// What a phone heard last is true, though the feed has faults and the node is restarted, and so is the record: one match of each
// format here, with -short the shortest of all, and all of them in TestReplayUnderFaults.
func TestLastWords(t *testing.T) {
	matches := oneOfEachFormat()
	if testing.Short() {
		matches = matches[:1]
	}
	for _, id := range matches {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := replayed(t, cricketapp.ReplayConfig{Sources: []string{id}, Faults: 2, Restarts: 1})
			if w := r.LastWords; w == nil || w.Wrong+w.False+w.Untold > 0 {
				t.Errorf("last words: %+v", w)
			}
			if d := r.RecordDiff; d == nil || len(d.Each) > 0 {
				t.Errorf("record: %+v", d)
			}
			for _, problem := range delivery(r) {
				t.Error(problem)
			}
		})
	}
}

// The command's own measure finds what is wrong: it plays the match without faults beside.
func TestLastWordsOfAFile(t *testing.T) {
	t.Parallel()
	r := replayed(t, cricketapp.ReplayConfig{Sources: []string{oneOver(t)}, Faults: 3})
	if w := r.LastWords; w == nil || w.Wrong+w.False+w.Untold > 0 || len(w.Each) > 0 {
		t.Errorf("last words: %+v", w)
	}
	if clean := replayed(t, cricketapp.ReplayConfig{Sources: []string{oneOver(t)}}); clean.LastWords != nil {
		t.Errorf("a feed without faults is the truth, and is held against %+v", clean.LastWords)
	}
}
