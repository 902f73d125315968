package page

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// rendered returns what a template of an application makes of data.
func rendered(t *testing.T, text string, data any) (string, error) {
	t.Helper()
	r, err := New("/counter/-", fstest.MapFS{"templates/a.html": {Data: []byte(`{{define "a"}}` + text + `{{end}}`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = r.templates.ExecuteTemplate(&out, "a", data)
	return out.String(), err
}

func TestFuncs(t *testing.T) {
	data := map[string]any{
		"Names": []string{"a", "b"}, "Pairs": [][]string{{"a", "b"}}, "None": []string(nil),
		"Now": time.Unix(0, 0), "Until": time.Unix(61, 0),
	}
	for text, want := range map[string]string{
		`{{at "/x"}} {{api "/x"}} {{seg "a/b"}} {{nth 0}}`:                      "/counter/-/x /counter/x a%2Fb 1",
		`{{range words "1B  2B"}}{{.}};{{end}}`:                                 "1B;2B;",
		`{{with dict "A" 1 "B" .Names}}{{.A}} {{index .B 1}}{{.C}}{{end}}`:      "1 b",
		`{{range reverse .Names}}{{.}}{{end}}{{len (reverse .None)}}`:           "ba0",
		`{{len (blanks .None 0)}}{{len (blanks .None 3)}}`:                      "13",
		`{{range blanks .Names 2}}[{{.}}]{{end}}`:                               "[a][b][]",
		`{{range blanks .Names 4}}[{{.}}]{{end}}`:                               "[a][b][][]",
		`{{range blanks .Pairs 1}}{{range blanks . 1}}[{{.}}]{{end}}{{end}}`:    "[a][b][][]",
		`{{template "kit-tabs" tabs "T" (at "/7") "/b" "" "A" "/b" "B"}}`:       `<nav class="tabs" aria-label="T"><a href="/counter/-/7">A</a><a href="/counter/-/7/b" aria-current="page">B</a></nav>`,
		`{{with countdown "In" .Now .Until "over"}}{{.Label}} {{.Left}}{{end}}`: "In 1:01",
		`{{with qr "http://a/b"}}{{slice (print .SVG) 0 4}} {{.Text}}{{end}}`:   "&lt;svg http://a/b",
	} {
		if got, err := rendered(t, text, data); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`{{dict "A"}}`, `{{dict 1 "A"}}`, `{{reverse 1}}`} {
		if got, err := rendered(t, text, data); err == nil {
			t.Errorf("%s: %q without an error", text, got)
		}
	}
}
