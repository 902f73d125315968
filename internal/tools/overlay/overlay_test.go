package overlay

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	dir := t.TempDir()
	text := "package a\n\nfunc f() int {\n\tx := 1\n\treturn x\n}\n\nfunc g() int {\n\tif xx := 1; xx > 0 {\n\t\tx := 1\n\t\treturn x\n\t}\n\treturn 0\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		Change
		want string // part of the file; empty: refused
		says string
	}{
		"whole lines, of two that look alike": {Change{"a.go", "\tx := 1\n", "\tx := 2\n"}, "{\n\tx := 2\n", ""},
		"not there":                           {Change{"a.go", "\tx := 7\n", "\tx := 2\n"}, "", "occurs 0 times"},
		"twice":                               {Change{"a.go", "}\n", "\n"}, "", "occurs 2 times"},
		"no Go":                               {Change{"a.go", "\tx := 1\n", "\tx := \n"}, "", "expected"},
		"another file":                        {Change{"b.go", "\tx := 1\n", "\n"}, "", "b.go"},
		"a file that is there":                {Change{"a.go", "", "package a\n"}, "", "occurs"},
		"the first line":                      {Change{"a.go", "package a\n", "package b\n"}, "package b\n\nfunc f", ""},
		"nothing instead":                     {Change{"a.go", "\tx := 1\n\treturn x\n", ""}, "int {\n}", ""},
	} {
		files, err := Apply(dir, []Change{c.Change})
		got := string(files[filepath.Join(dir, "a.go")])
		switch {
		case c.want != "" && (err != nil || !strings.Contains(got, c.want)):
			t.Errorf("%s: %v\n%s", name, err, got)
		case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c.go"), []byte("package a\n\nfunc h() {\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, c := filepath.Join(dir, "a.go"), filepath.Join(dir, "c.go")
	if files, err := Apply(dir, []Change{{".", "func h() {\n", "func h() {\n\tf()\n"}}); err != nil || len(files) != 1 || !strings.Contains(string(files[c]), "f()") {
		t.Errorf("in a folder: %v, %s", err, files)
	}
	if _, err := Apply(dir, []Change{{".", "package a\n", "package b\n"}}); err == nil || !strings.Contains(err.Error(), "occurs 2 times") {
		t.Errorf("in two files of a folder: %v", err)
	}
	files, err := Apply(dir, []Change{{"a.go", "\tx := 1\n", "\tx := 2\n"}, {"a.go", "\treturn 0\n", "\treturn 1\n"}})
	if err != nil || !strings.Contains(string(files[a]), "x := 2") || !strings.Contains(string(files[a]), "return 1") {
		t.Errorf("two changes of a file: %v\n%s", err, files[a])
	}
	files, err = Apply(dir, []Change{{"new.go", "", "package a\n"}})
	if err != nil || string(files[filepath.Join(dir, "new.go")]) != "package a\n" {
		t.Errorf("a new file: %v, %s", err, files)
	}
}

// The go command builds from the copies, and the sources stay as they are.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module a\n", "a.go": "package main\n\nfunc main() {\n\tprint(1)\n}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Apply(dir, []Change{{"a.go", "\tprint(1)\n", "\tprint(one)\n"}, {"b.go", "", "package main\n\nconst one = 11\n"}})
	if err != nil {
		t.Fatal(err)
	}
	path, err := Write(filepath.Join(t.TempDir(), "copies"), files)
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"-overlay=" + path: "11", "-v=false": "1"} {
		cmd := exec.Command("go", "run", flag, ".")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s: %s, %v, want %s", flag, out, err, want)
		}
	}
}
