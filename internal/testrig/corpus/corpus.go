// Package corpus stores inputs worth keeping from fuzzing, one file for each fuzz target, so that every test run starts with them. The go
// command would store each input, some thousands, in a file of its own.
//
// In a file, inputs are separated by empty lines. Each has the lines of the go command's format ("go test fuzz v1") without the first.
// `make corpus` writes the files.
package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Folder is the folder of the files, in the folder of the tested package.
const Folder = "testdata/corpus"

// Add adds the stored inputs of the fuzz target to f. A target without a file has none.
func Add(f *testing.F) {
	f.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.FromSlash(Folder), f.Name()+".txt"))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		f.Fatal(err)
	}
	for input := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		args, err := parse(input)
		if err != nil {
			f.Fatalf("%s: %v", f.Name(), err)
		}
		f.Add(args...)
	}
}

// parse parses one input: one line for each argument of the target.
func parse(input string) (args []any, err error) {
	for line := range strings.SplitSeq(input, "\n") {
		kind, literal, ok := strings.Cut(strings.TrimSuffix(line, ")"), "(")
		if !ok {
			return nil, fmt.Errorf("%q is no argument", line)
		}
		arg, err := value(kind, literal)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		args = append(args, arg)
	}
	return args, nil
}

// value parses a literal of one of the types that our targets use.
func value(kind, literal string) (any, error) {
	switch kind {
	case "string":
		return strconv.Unquote(literal)
	case "[]byte":
		text, err := strconv.Unquote(literal)
		return []byte(text), err
	case "byte":
		text, err := strconv.Unquote(literal)
		r := []rune(text)
		if err == nil && len(r) != 1 {
			err = strconv.ErrSyntax
		}
		if err != nil {
			return nil, err
		}
		return byte(r[0]), nil // the go command writes a byte as a rune
	case "int64":
		return strconv.ParseInt(literal, 10, 64)
	case "uint32":
		n, err := strconv.ParseUint(literal, 10, 32)
		return uint32(n), err
	}
	return nil, fmt.Errorf("no target takes a %s", kind)
}
