package page

import (
	"strings"
	"testing"
	"testing/fstest"
)

// sceneFiles returns an application with a personal page, a page of a topic, and a file of scenes.
func sceneFiles(scenes string) fstest.MapFS {
	return fstest.MapFS{
		"templates/a.html": {Data: []byte(`{{define "own-page"}}<main id="content">{{.By}} {{.Count}}</main>{{end}}` +
			`{{define "count"}}<p data-part="count">{{.By}} counts {{.Count}}</p>{{end}}{{define "topic-page"}}<main id="content">{{.Parts.count}}</main>{{end}}`)},
		"scenes.json": {Data: []byte(scenes)},
	}
}

// scenesOf renders the scenes of a file.
func scenesOf(t *testing.T, file string) ([]Scene, error) {
	t.Helper()
	r, err := New("/counter/-", sceneFiles(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Scenes(func(kind string, decode func(into any) error) (any, error) {
		var s struct {
			By    string
			Count int
		}
		if err := decode(&s); err != nil || kind == "own" {
			return s, err
		}
		v, err := r.Parts(View{}, "Topic", []Block{{ID: "count", Data: s}})
		v.Kind, v.Module = "topic", "app.js"
		return v, err
	})
}

// A scene has the common data, except for what its own replaces. Scenes have no scripts.
func TestScenesOfAFile(t *testing.T) {
	all, err := scenesOf(t, `{"common": {"by": "Ann", "count": 1}, "scenes": [
		{"name": "one", "what": "One", "kind": "own", "data": {}},
		{"name": "two", "what": "Two", "kind": "topic", "data": {"count": 2}}]}`)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d scenes, %v", len(all), err)
	}
	for i, has := range []string{"<main id=\"content\">Ann 1</main>", "Ann counts 2"} {
		s := &all[i]
		if body := string(s.Page); !strings.Contains(body, has) || !strings.Contains(body, "kit.css") || strings.Contains(body, ".js\"></script>") {
			t.Errorf("%s: %s", s.Name, body)
		}
		if len(s.View.Parts) != 1 || !strings.Contains(string(s.View.Parts[0].HTML), has) {
			t.Errorf("%s: %v", s.Name, s.View.Parts)
		}
	}
}

func TestBadScenes(t *testing.T) {
	for file, want := range map[string]string{
		`{`: "read the scenes",
		`{"common": {}, "scenes": [{"name": "x", "kind": "own", "data": {"count": "many"}}]}`: "scene x",
		`{"common": {}, "scenes": [{"name": "x", "kind": "own"}]}`:                            "scene x",
	} {
		if _, err := scenesOf(t, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}
