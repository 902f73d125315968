package attr

import (
	"errors"
	"strconv"
	"strings"
)

// pathError says at which attribute of an item Marshal or Unmarshal failed.
type pathError struct {
	path string // "innings[2].runs"
	err  error
}

func (e *pathError) Error() string { return "attr: " + e.path + ": " + e.err.Error() }

func (e *pathError) Unwrap() error { return e.err }

// atName puts a name in front of the path of an error.
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

// atIndex puts an index in front of the path of an error.
func atIndex(err error, i int) error { return atName(err, "["+strconv.Itoa(i)+"]") }
