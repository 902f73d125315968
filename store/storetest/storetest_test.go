package storetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// recorder is a test that records errors and does not fail.
type recorder struct {
	testing.TB
	errs []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Sprintf(format, args...))
}

func TestCheckTellsOfOpenViews(t *testing.T) {
	s := storetest.Open(t)
	r := &recorder{TB: t}
	storetest.Check(r, s)
	if len(r.errs) != 0 {
		t.Errorf("of a good store: %q", r.errs)
	}
	err := s.View(context.Background(), func(*store.Tx) error {
		storetest.Check(r, s)
		return nil
	})
	if err != nil || len(r.errs) != 1 || !strings.Contains(r.errs[0], "1 Views are still open") {
		t.Errorf("within a View: %q, %v", r.errs, err)
	}
}
