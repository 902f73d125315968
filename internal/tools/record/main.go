// Command record makes the recordings embedded in the replay from Cricsheet match files:
//
//	record <folder of Cricsheet JSON> <folder of recordings>
//
// Each recording is read back and compared with its source. The reason for choosing a match comes from the folder's MANIFEST.json.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
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
	manifest, err := os.ReadFile(filepath.Join(from, "MANIFEST.json"))
	if err != nil {
		return err
	}
	var list []struct{ ID, Why string }
	if err := json.Unmarshal(manifest, &list); err != nil {
		return fmt.Errorf("MANIFEST.json: %w", err)
	}
	total := 0
	for _, m := range list {
		src, err := os.ReadFile(filepath.Join(from, m.ID+".json"))
		if err != nil {
			return err
		}
		packed, err := record(m.ID, m.Why, src)
		if err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
		if err := os.WriteFile(filepath.Join(to, m.ID+".gz"), packed, 0o644); err != nil {
			return err
		}
		total += len(packed)
	}
	fmt.Printf("%d matches, %d bytes\n", len(list), total)
	return nil
}

func record(id, why string, src []byte) ([]byte, error) {
	m, err := recording.Read(id, why, src)
	if err != nil {
		return nil, err
	}
	packed, err := recording.Pack(m)
	if err != nil {
		return nil, err
	}
	back, err := recording.Unpack(bytes.NewReader(packed))
	if err == nil && !reflect.DeepEqual(m, back) {
		err = fmt.Errorf("it differs when read back")
	}
	return packed, err
}
