// Package cricsheet turns match files of cricsheet.org (JSON 1.0 and 1.1) into recordings.
package cricsheet

import (
	"fmt"
	"reflect"

	"github.com/touchline/touchline/edge/cricket/replay/tape"
)

// Convert makes the recording of a match file, and proves it: what is read back from it says the same as the file. id
// names the match, digits; why is what makes it worth a look, "" for nothing. A file that is no match, or that tells
// a kind of fact that recordings have no place for, is an error that says what.
func Convert(id, why string, src []byte) (*tape.Match, error) {
	s, err := decode(src)
	if err != nil {
		return nil, err
	}
	m, err := toTape(id, why, s)
	if err != nil {
		return nil, err
	}
	back, err := tape.Parse(id+".match", tape.Format(m))
	if err != nil {
		return nil, err
	}
	if diff := differ(s, fromTape(back)); diff != "" {
		return nil, fmt.Errorf("the recording differs from the source in %s", diff)
	}
	return back, nil
}

// differ names the first part in which two matches differ.
func differ(a, b *source) string {
	for i := range a.Innings {
		if i >= len(b.Innings) {
			return "the number of innings"
		}
		x, y := a.Innings[i], b.Innings[i]
		for o := range x.Overs {
			if o >= len(y.Overs) || !reflect.DeepEqual(x.Overs[o], y.Overs[o]) {
				return fmt.Sprintf("innings %d over %d", i+1, o)
			}
		}
		if !reflect.DeepEqual(x, y) {
			return fmt.Sprintf("innings %d: %+v, %+v", i+1, x, y)
		}
	}
	if !reflect.DeepEqual(a.Info, b.Info) {
		return fmt.Sprintf("info: %+v, %+v", a.Info, b.Info)
	}
	if !reflect.DeepEqual(a, b) {
		return "the number of innings"
	}
	return ""
}
