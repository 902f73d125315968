package page

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// The first load of a page that works offline is small, including every part of the kit, its worker, and what that fetches.
func TestFirstLoadOfTheKit(t *testing.T) {
	r, err := New("/counter/-", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	scenes, err := r.Kit()
	if err != nil {
		t.Fatal(err)
	}
	worker, err := r.Worker("/counter/-/", "v1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range scenes {
		if len(scenes[i].View.Parts) == 0 { // one of the node's pages, without parts of the kit
			continue
		}
		body, err := r.RenderFramed("bare-page", scenes[i].View.Parts[0].HTML, Frame{
			Title: "Kit", Stream: "/_/stream?app=counter", Styles: []string{"kit.css", "extra.css"}, Offline: &Offline{Scope: "/counter/-/", Reader: "x", Now: time.Unix(0, 0)},
		})
		if err != nil {
			t.Fatal(err)
		}
		total := len(body) + len(worker)
		for _, name := range []string{"page.css", "kit.css", "extra.css", "page.js", "morph.js", "age.js", "offline.js", "queue.js", "database.js", "link.js", "request.js", "send.js", "shown.js", "stream.js", "times.js", "turns.js", "refresh.js", "icon.svg"} {
			a, ok := r.Asset(name)
			if !ok || !strings.Contains(string(worker), "/"+name+`"`) {
				t.Fatalf("there is no %s, or the worker does not keep it", name)
			}
			if name != "refresh.js" && !strings.Contains(string(body), "/"+name+`"`) {
				t.Errorf("the page does not load %s", name)
			}
			total += len(a.Body)
		}
		if total > 100_000 { // the rest of 150 kB is for an application's own parts
			t.Errorf("%s: the first load is %d bytes", scenes[i].Name, total)
		}
		t.Logf("%s: %d bytes, of them %d of the page", scenes[i].Name, total, len(body))
	}
}

// Another version of the node, a template or an asset results in another worker.
func TestWorkerOfAVersion(t *testing.T) {
	script := func(files fs.FS, made map[string][]byte, release string) string {
		t.Helper()
		r, err := New("", files, made)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Worker("/counter/-/", release)
		if err != nil {
			t.Fatal(err)
		}
		return string(s)
	}
	files := func(name, text string) fs.FS {
		return fstest.MapFS{"templates/a.html": {Data: []byte("a")}, name: {Data: []byte(text)}}
	}
	one := script(files("assets/a.css", "a"), nil, "v1")
	if one != script(files("assets/a.css", "a"), nil, "v1") {
		t.Error("the same version makes two workers")
	}
	for what, other := range map[string]string{
		"node": script(files("assets/a.css", "a"), nil, "v2"), "asset": script(files("assets/a.css", "b"), nil, "v1"),
		"template": script(files("templates/a.html", "b"), nil, "v1"), "file that is made": script(files("assets/a.css", "a"), map[string][]byte{"b.css": nil}, "v1"),
		"application": script(nil, nil, "v1"),
	} {
		if one == other {
			t.Errorf("another %s makes the same worker", what)
		}
	}
	if evil := script(nil, nil, "</script>\u2028\""); !regexp.MustCompile(`(?m)^const VERSION = "[^<\x{2028}]*";$`).MatchString(evil) {
		t.Errorf("%.200s", evil)
	}
}

func TestCountdown(t *testing.T) {
	now := time.Date(2026, 7, 4, 15, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]string{
		-time.Second: "closed", 0: "closed", time.Second: "0:01", 59*time.Minute + 59*time.Second: "59:59", time.Hour: "1:00:00", 30*time.Hour + 61*time.Second: "30:01:01",
	} {
		if got := newCountdown("", now, now.Add(left), "closed").Left; got != want {
			t.Errorf("%s: %q, want %q", left, got, want)
		}
	}
}

// assets returns the files with an extension among the assets of the kit and of all applications, of which several have some.
func assets(t *testing.T, extension string) (files []string) {
	t.Helper()
	for _, folder := range []string{"assets", "../../edge/*/web/assets", "../../edge/*/web/page/assets"} {
		found, err := filepath.Glob(folder + "/*" + extension)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	folders := map[string]bool{}
	for _, name := range files {
		folders[filepath.Dir(name)] = true
	}
	if len(folders) < 4 {
		t.Fatalf("assets in %d folders: %v", len(folders), files)
	}
	return files
}

// Spaces are removed from style sheets, not from strings in them.
func TestStyleSheetsKeepTheirStrings(t *testing.T) {
	quoted := regexp.MustCompile(`"[^"\n]*"`)
	for _, name := range assets(t, ".css") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range quoted.FindAll(cssExtra.ReplaceAll(text, nil), -1) {
			if cssSpace.Match(s) {
				t.Errorf("%s: the string %s would lose a space", name, s)
			}
		}
	}
}

// What is removed from a script is a comment, not a part of a string: before it, quotes and backticks are in pairs. No string goes over
// several lines, whose indentation would be lost.
func TestScriptsLoseOnlyComments(t *testing.T) {
	for _, name := range assets(t, ".js") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			code := jsExtra.ReplaceAllString(line, "")
			if strings.Count(code, "`")%2 != 0 || strings.Count(code, `"`)%2 != 0 {
				t.Errorf("%s: a string is cut, or goes over several lines: %s", name, line)
			}
		}
	}
}
