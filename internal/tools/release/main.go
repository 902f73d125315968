// Command release prepares a version: it gives the unreleased part of docs/CHANGELOG.md its heading, and prints a version's notes. It makes no
// tag and sends nothing; it prints the commands for that.
//
//	go run ./internal/tools/release v0.2.0          # moves "Unreleased" to "v0.2.0 (today)" and prints what to do next
//	go run ./internal/tools/release -notes v0.2.0   # prints the notes of v0.2.0
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

const changelog = "docs/CHANGELOG.md"

const unreleased = "Unreleased"

func main() {
	notesOnly := flag.Bool("notes", false, "print the notes of a version that is in the changelog")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: release [-notes] v1.2.3")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *notesOnly); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version string, notesOnly bool) error {
	text, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	if notesOnly {
		notes, err := notesOf(string(text), version)
		if err == nil {
			fmt.Println(notes)
		}
		return err
	}
	changed, err := releaseChangelog(string(text), version, time.Now())
	if err != nil {
		return err
	}
	if err := os.WriteFile(changelog, []byte(changed), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s has the section %s. Read it, then:\n\n  git commit -m 'docs: the notes of %s' %s\n  git tag -a %s -m %s\n  git push origin %s\n",
		changelog, version, version, changelog, version, version, version)
	return nil
}

// releaseChangelog heads the unreleased part of a changelog with a version and a day, and begins a new unreleased part.
func releaseChangelog(text, version string, day time.Time) (string, error) {
	if !regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.]+)?$`).MatchString(version) {
		return "", fmt.Errorf("%q is no version: it must look like v1.2.3", version)
	}
	if _, err := notesOf(text, version); err == nil {
		return "", fmt.Errorf("%s has %s already", changelog, version)
	}
	notes, err := notesOf(text, unreleased)
	if err != nil {
		return "", err
	}
	if notes == "" {
		return "", errors.New("nothing is unreleased: write what has changed for users first")
	}
	heading := "## " + unreleased + "\n"
	return strings.Replace(text, heading, heading+"\n## "+version+" ("+day.Format(time.DateOnly)+")\n", 1), nil
}

// notesOf returns the part of a changelog below the heading of a version.
func notesOf(text, version string) (string, error) {
	lines := strings.Split(text, "\n")
	isHeading := func(line string) bool { return strings.HasPrefix(line, "## ") }
	start := slices.IndexFunc(lines, func(line string) bool {
		return line == "## "+version || strings.HasPrefix(line, "## "+version+" (")
	})
	if start < 0 {
		return "", fmt.Errorf("%s has no section %s", changelog, version)
	}
	part := lines[start+1:]
	if end := slices.IndexFunc(part, isHeading); end >= 0 {
		part = part[:end]
	}
	return strings.TrimSpace(strings.Join(part, "\n")), nil
}
