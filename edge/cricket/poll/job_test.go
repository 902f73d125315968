package poll

import (
	"errors"
	"fmt"
	"testing"
)

// What a hundred matches failed by is one line, whatever their order and number.
func TestToldErrors(t *testing.T) {
	gone, refused := errors.New("no such match"), errors.New("answered 401")
	var many []error
	for i := range 10 {
		many = append(many, fmt.Errorf("match %d", i))
	}
	for want, errs := range map[string][]error{
		"no such match":               {gone, nil, gone, errors.Join(gone, gone)},
		"answered 401\nno such match": {gone, errors.Join(refused, gone)},
		"tick: no such match":         {fmt.Errorf("tick: %w", gone)},
		"match 0\nmatch 1\nmatch 2\nmatch 3\nmatch 4\nand others": many,
	} {
		if got := told(errors.Join(errs...)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
