package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestConfigurationIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	for size, want := range map[int]string{1 << 20: "", 1<<20 + 1: "longer than 1048576 bytes"} {
		if err := os.WriteFile(file, bytes.Repeat([]byte("\n"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := load(file, new(pflag.FlagSet))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
