// Package overlay makes changed copies of Go sources and embedded scripts, from which the go command builds with its flag -overlay. The
// sources stay as they are.
package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Change replaces a text, which must occur exactly once, in a file or in the files of a package other than its tests. An empty text
// stands for a file that does not exist yet. Texts are whole lines.
type Change struct {
	In       string // the file or folder, relative to a root, with slashes
	Old, New string
}

// Parse reads changes: each is a pair of files, "old" with its file or folder, and "new".
func Parse(files []txtar.File) (changes []Change, err error) {
	for pair := range slices.Chunk(files, 2) {
		in, isOld := strings.CutPrefix(pair[0].Name, "old ")
		if !isOld || len(pair) < 2 || pair[1].Name != "new" {
			return nil, fmt.Errorf("%q is not the first of a pair of old and new", pair[0].Name)
		}
		changes = append(changes, Change{In: in, Old: string(pair[0].Data), New: string(pair[1].Data)})
	}
	return changes, nil
}

// Apply returns the files that changes affect, by path, with the changes made. Those of Go must be valid.
func Apply(root string, changes []Change) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for _, c := range changes {
		path, text, err := c.find(root, changed)
		if err != nil {
			return nil, err
		}
		changed[path] = []byte(strings.Replace("\n"+text, "\n"+c.Old, "\n"+c.New, 1)[1:])
	}
	for path, text := range changed {
		if filepath.Ext(path) != ".go" {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// find returns the file to change. changed has the results of earlier changes.
func (c *Change) find(root string, changed map[string][]byte) (in, text string, err error) {
	sources, err := c.sources(root)
	if err != nil {
		return "", "", err
	}
	n := 0
	for _, path := range sources {
		have, ok := changed[path]
		if !ok {
			have, err = os.ReadFile(path)
			if c.Old == "" && errors.Is(err, fs.ErrNotExist) {
				return path, "", nil
			}
			if err != nil {
				return "", "", err
			}
		}
		if k := strings.Count("\n"+string(have), "\n"+c.Old); k > 0 {
			in, text, n = path, string(have), n+k
		}
	}
	if n != 1 || c.Old == "" {
		return "", "", fmt.Errorf("%s: the old text occurs %d times:\n%s", c.In, n, c.Old)
	}
	return in, text, nil
}

// sources returns the files that a change may apply to.
func (c *Change) sources(root string) ([]string, error) {
	path := filepath.Join(root, filepath.FromSlash(c.In))
	if slices.Contains([]string{".go", ".js", ".mjs"}, filepath.Ext(path)) {
		return []string{path}, nil
	}
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }), err
}

// Write writes copies of files, given by path, to a folder, and the file for the flag -overlay, whose path it returns.
func Write(dir string, files map[string][]byte) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		replace[path] = filepath.Join(dir, strings.Trim(strings.ReplaceAll(filepath.ToSlash(path), "/", "_"), "_"))
		if err := os.WriteFile(replace[path], text, 0o600); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, raw, 0o600)
}
