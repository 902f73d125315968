package cricketapp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/replay/recording"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
)

// replaySource is a match to be played: a recording's id, or a Cricsheet file.
type replaySource struct {
	id, path string
	seed     uint64                        // added to that of the faults
	clean    func() (*ReplayReport, error) // plays it without faults, once
}

// replaySources lists ids, files and folders. An existing file or folder is used as such, but a name of only
// digits is tried as an id first. passed, if set, is called with the number of other files in a folder.
func replaySources(names []string, passed func(dir string, files int)) ([]replaySource, error) {
	var out []replaySource
	for _, name := range names {
		if isDigits(name) {
			if _, err := replay.Load(name); err == nil {
				out = append(out, replaySource{id: name})
				continue
			}
		}
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\`):
			return nil, fault.New(fault.NotFound, "match_not_recorded",
				"no recorded match %q and no such file: touchline demo cricket --list shows the matches", name)
		case err != nil:
			return nil, fault.Wrap(err, fault.NotFound, "no_file", "cannot read %s: %s", name, node.ReasonOf(err))
		case !info.IsDir():
			out = append(out, replaySource{path: name})
		default:
			files, others, err := matchFiles(name)
			if err != nil {
				return nil, err
			}
			if others > 0 && passed != nil {
				passed(name, others)
			}
			out = append(out, files...)
		}
	}
	return out, nil
}

// matchFiles returns the match files in a folder, which Cricsheet names by number. others is the number of other files.
func matchFiles(dir string) (matches []replaySource, others int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, fault.Wrap(err, fault.Unavailable, "no_folder", "cannot read %s: %s", dir, node.ReasonOf(err))
	}
	for _, e := range entries {
		id, isJSON := strings.CutSuffix(e.Name(), ".json")
		switch {
		case e.IsDir():
		case isJSON && isDigits(id):
			matches = append(matches, replaySource{path: filepath.Join(dir, e.Name())})
		default:
			others++
		}
	}
	if len(matches) == 0 {
		return nil, 0, fault.New(fault.NotFound, "no_matches", "%s has no match files: Cricsheet's are called 1234567.json", dir)
	}
	return matches, others, nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// maxMatchFile bounds a match file: a Test is under two megabytes.
const maxMatchFile = 64 << 20

// load loads the match. A file's id is its name, or 1 if that is not a number.
func (s replaySource) load() (*replay.Match, error) {
	if s.id != "" {
		return replay.Load(s.id)
	}
	src, err := secretfile.ReadAny(s.path, maxMatchFile)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "no_file", "cannot read %s: %s", s.path, node.ReasonOf(err))
	}
	id := strings.TrimLeft(strings.TrimSuffix(filepath.Base(s.path), ".json"), "0")
	if !isDigits(id) || len(id) > 15 {
		id = "1"
	}
	rec, err := recording.Read(id, "", src)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "match_file", "%s is not a Cricsheet match file: %s", s.path, plainJSON(err))
	}
	m, err := replay.New(rec)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "match_file", "%s cannot be played: %s", s.path, err)
	}
	return m, nil
}

// plainJSON describes an error in a JSON file without the decoder's terms. Other errors keep their text.
func plainJSON(err error) string {
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("it is not valid JSON at byte %d", bad.Offset)
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := kind.Field
		if where == "" {
			where = "all of it"
		}
		return fmt.Sprintf("%s has a value of the wrong type (%s)", where, kind.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends too early"
	}
	before, field, found := strings.Cut(err.Error(), "json: unknown field ")
	if found {
		return before + "it has " + field + ", which no match has"
	}
	return err.Error()
}
