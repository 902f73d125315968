// Command record turns Cricsheet match files into the recordings that the replay embeds:
//
//	record <folder of Cricsheet JSON> <folder of recordings>
//
// Every recording is read back and held against the file it was made from before it is written. The reason why a
// match was chosen comes from the folder's MANIFEST.json, where there is one.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchline/touchline/edge/cricket/replay/cricsheet"
	"github.com/touchline/touchline/edge/cricket/replay/tape"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: record <folder of Cricsheet JSON> <folder of recordings>")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	why, err := reasons(filepath.Join(from, "MANIFEST.json"))
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(from, "*.json"))
	if err != nil {
		return err
	}
	total, n := 0, 0
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".json")
		if id == "MANIFEST" {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		out, err := record(id, why[id], src)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		if err := os.WriteFile(filepath.Join(to, id+".match"), out, 0o644); err != nil {
			return err
		}
		n, total = n+1, total+len(out)
	}
	fmt.Printf("%d matches, %d bytes\n", n, total)
	return nil
}

// reasons reads why each match was chosen.
func reasons(path string) (map[string]string, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []struct{ ID, Why string }
	if err := json.Unmarshal(src, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	why := map[string]string{}
	for _, m := range list {
		why[m.ID] = m.Why
	}
	return why, nil
}

// record makes one recording.
func record(id, why string, src []byte) ([]byte, error) {
	m, err := cricsheet.Convert(id, why, src)
	if err != nil {
		return nil, err
	}
	return tape.Format(m), nil
}
