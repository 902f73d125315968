package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const log = `# Changelog

## Unreleased

- Faster.

### To do

- Nothing.

## v0.1.0 (2026-01-02)

- First.
`

func TestReleaseChangelog(t *testing.T) {
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	changed, err := releaseChangelog(log, "v0.2.0", day)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(log, "## Unreleased\n", "## Unreleased\n\n## v0.2.0 (2026-03-04)\n", 1); changed != want {
		t.Errorf("got:\n%s", changed)
	}
	for version, want := range map[string]string{"v0.2.0": "- Faster.\n\n### To do\n\n- Nothing.", "v0.1.0": "- First.", unreleased: ""} {
		if notes, err := notesOf(changed, version); err != nil || notes != want {
			t.Errorf("%s: %q, %v", version, notes, err)
		}
	}
	for version, want := range map[string]string{"v0.2.0": "already", "v0.3.0": "nothing is unreleased", "0.3.0": "no version", "v0.03.0": "no version"} {
		if _, err := releaseChangelog(changed, version, day); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
	}
	if _, err := notesOf(changed, "v0.9.0"); err == nil {
		t.Error("notes of a version that is not there")
	}
}

// The project's own changelog can be released.
func TestChangelogOfTheProject(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(changelog)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := releaseChangelog(string(text), "v999.0.0", time.Now()); err != nil && !strings.Contains(err.Error(), "nothing is unreleased") {
		t.Error(err)
	}
}
