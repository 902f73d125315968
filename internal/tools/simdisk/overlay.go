package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/touchline/touchline/internal/tools/overlay"
)

// The changes: functions get the prefix simReal and a hook of their own name, and loops over maps are ordered.
//
//go:embed overlay
var patches embed.FS

const (
	bolt = "go.etcd.io/bbolt"
	disk = "github.com/touchline/touchline/store/internal/disk"
)

// write writes the copies to dir and returns the flags for the go command. Packages of this module and of the standard library are
// overlaid. That is impossible for a module in the module cache, so bbolt is copied as a whole and replaced.
func write(folder string) (string, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "bbolt")
	if err := errors.Join(os.RemoveAll(copied), copyModule(bolt, copied)); err != nil {
		return "", fmt.Errorf("%s: %w", bolt, err)
	}
	hooked, err := changed("bbolt.txt", copied)
	if err != nil {
		return "", err
	}
	for path, text := range hooked {
		if err := writeFile(path, text); err != nil {
			return "", err
		}
	}
	files := map[string][]byte{}
	for name, pkg := range map[string]string{"os.txt": "os", "disk.txt": disk} {
		root, err := goCommand("list", "-f", "{{.Dir}}", pkg)
		if err != nil {
			return "", err
		}
		hooked, err := changed(name, root)
		if err != nil {
			return "", err
		}
		maps.Copy(files, hooked)
	}
	modFile := filepath.Join(dir, "go.mod")
	if err := writeModFile(modFile, copied); err != nil {
		return "", err
	}
	_, err = overlay.Write(filepath.Join(dir, "overlay"), files)
	// Shells split the flags at spaces, so the paths stay as short as they were given.
	return fmt.Sprintf("-overlay=%s -modfile=%s", filepath.Join(folder, "overlay", "overlay.json"), filepath.Join(folder, "go.mod")), err
}

// changed returns the files below a folder that the changes in a file of folder overlay affect.
func changed(name, root string) (map[string][]byte, error) {
	text, err := patches.ReadFile("overlay/" + name)
	if err != nil {
		return nil, err
	}
	changes, err := overlay.Parse(txtar.Parse(text).Files)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return overlay.Apply(root, changes)
}

// writeModFile writes our go.mod with the copy of bbolt, and go.sum beside it.
func writeModFile(path, copied string) error {
	ours, err := goCommand("env", "GOMOD")
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(ours)
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(strings.TrimSuffix(ours, ".mod") + ".sum")
	if err != nil {
		return err
	}
	mod = fmt.Appendf(mod, "\nreplace %s => %q\n", bolt, copied)
	return errors.Join(writeFile(path, mod), writeFile(strings.TrimSuffix(path, ".mod")+".sum", sum))
}

func copyModule(module, to string) error {
	from, err := goCommand("list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rest, _ := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rest == "cmd" || rest == "tests"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && rest != "go.mod":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return writeFile(filepath.Join(to, rest), text)
	})
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func goCommand(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output() //nolint:noctx // it ends soon
	return strings.TrimSpace(string(out)), err
}
