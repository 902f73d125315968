package cricsheet

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/cricket/replay/tape"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

// Whatever a file has, it is refused, or it becomes a recording that says the same when it is read again.
func FuzzConvert(f *testing.F) {
	f.Add([]byte(match))
	f.Add([]byte(strings.Replace(match, `"wides":1`, `"penalty":1`, 1)))
	f.Add([]byte(`{"info":{"teams":["A","B"]},"innings":[{}]}`))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Convert("7", "", src)
		if err != nil {
			return
		}
		out := tape.Format(m)
		back, err := tape.Parse("7.match", out)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if again := tape.Format(back); string(again) != string(out) {
			t.Errorf("once\n%s\ntwice\n%s", out, again)
		}
	})
}
