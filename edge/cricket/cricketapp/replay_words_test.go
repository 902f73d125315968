package cricketapp_test

import (
	"testing"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
)

// A phone's last alert on each subject is true, and so is the record, although the feed has faults and the node is restarted. Here
// one match of each format is played, or with -short only the shortest; TestReplayUnderFaults plays others.
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

// Without Clean a replay with faults plays the match without faults too, and compares its last words with that.
func TestLastWordsOfAFile(t *testing.T) {
	t.Parallel()
	r := replayed(t, cricketapp.ReplayConfig{Sources: []string{oneOver(t)}, Faults: 3})
	if w := r.LastWords; w == nil || w.Wrong+w.False+w.Untold > 0 || len(w.Each) > 0 {
		t.Errorf("last words: %+v", w)
	}
	if clean := replayed(t, cricketapp.ReplayConfig{Sources: []string{oneOver(t)}}); clean.LastWords != nil {
		t.Errorf("a replay without faults is the truth, but was compared: %+v", clean.LastWords)
	}
}
