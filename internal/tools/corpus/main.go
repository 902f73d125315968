// Command corpus copies fuzzing inputs from the go command's cache to the files that package internal/testrig/corpus reads:
//
//	go run ./internal/tools/corpus "$(go env GOCACHE)/fuzz/$(go list -m)" store/attr/FuzzDecode ...
//
// The inputs of a target are sorted, so that the same inputs make the same file. The longest are left out.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

// maxInput is the maximum length of a kept input as written, in bytes.
const maxInput = 2000

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: corpus CACHE PACKAGE/TARGET...")
		os.Exit(2)
	}
	for _, target := range os.Args[2:] {
		n, err := collect(os.Args[1], target)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("%-32s %5d inputs\n", target, n)
	}
}

// collect writes the file of a target and returns the number of inputs in it.
func collect(cache, target string) (int, error) {
	files, err := filepath.Glob(filepath.Join(cache, filepath.FromSlash(target), "*"))
	if err != nil || len(files) == 0 {
		return 0, err
	}
	var inputs []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		_, input, _ := strings.Cut(strings.TrimSpace(string(data)), "\n") // after the line with the format
		if len(input) <= maxInput {
			inputs = append(inputs, input)
		}
	}
	slices.Sort(inputs)
	folder, name := filepath.Split(filepath.FromSlash(target))
	folder = filepath.Join(folder, filepath.FromSlash(corpus.Folder))
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return 0, err
	}
	return len(inputs), os.WriteFile(filepath.Join(folder, name+".txt"), []byte(strings.Join(inputs, "\n\n")+"\n"), 0o600)
}
