package attr

import (
	"errors"
	"strconv"
	"strings"
)

// pathError names the attribute of an item at which Marshal or Unmarshal failed.
type pathError struct {
	path string // such as "innings[2].runs"
	err  error
}

func (e *pathError) Error() string { return "attr: " + e.path + ": " + e.err.Error() }

func (e *pathError) Unwrap() error { return e.err }

// atName prepends a name to the path of an error.
func atName(err error, name string) error {
	inner, ok := errors.AsType[*pathError](err)
	switch {
	case !ok:
		return &pathError{path: name, err: err}
	case strings.HasPrefix(inner.path, "["):
		return &pathError{path: name + inner.path, err: inner.err}
	}
	return &pathError{path: name + "." + inner.path, err: inner.err}
}

// atIndex prepends an index to the path of an error.
func atIndex(err error, i int) error { return atName(err, "["+strconv.Itoa(i)+"]") }
