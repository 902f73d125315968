package page

import (
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"strings"
)

// funcs returns the functions of all templates, besides those of html/template. base is the address of the pages.
//
//	{{template "kit-pill" dict "Class" "live" "Icon" "dot" "Text" "Live"}}
//	{{template "kit-tabs" tabs "Game" (at "/games/7") "/score" "" "Overview" "/score" "Score"}}
//	{{range reverse .Rows}}<li>{{.}}</li>{{end}}
//	{{range blanks .Names 4}}<input name="names[]" value="{{.}}">{{end}}
//	{{template "kit-figure" qr .Address}}
func funcs(base string) template.FuncMap {
	return template.FuncMap{
		"at":        func(path string) string { return base + path },                           // address of a page
		"api":       func(path string) string { return strings.TrimSuffix(base, "/-") + path }, // address of an API route
		"seg":       url.PathEscape,                                                            // escapes a path segment
		"nth":       func(i int) int { return i + 1 },                                          // index counted from 1
		"words":     strings.Fields,                                                            // "1B 2B 3B" as a list
		"dict":      dict,
		"reverse":   reverse,
		"blanks":    blanks,
		"tabs":      newTabs,
		"countdown": newCountdown,
		"qr":        newQR,
	}
}

// dict returns names and values, given in turn, as the data of another template.
func dict(pairs ...any) (map[string]any, error) {
	all := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok || i+1 == len(pairs) {
			return nil, fmt.Errorf("dict: %v is not a name with a value", pairs[i])
		}
		all[name] = pairs[i+1]
	}
	return all, nil
}

// reverse returns a list in reverse order.
func reverse(list any) any {
	v := reflect.ValueOf(list)
	out := reflect.MakeSlice(v.Type(), 0, v.Len())
	for i := v.Len() - 1; i >= 0; i-- {
		out = reflect.Append(out, v.Index(i))
	}
	return out.Interface()
}

// blanks returns a list with empty elements at its end, for a form to fill in: one or more, so that there are at least n in all.
func blanks(list any, n int) any {
	v := reflect.ValueOf(list)
	n = max(n, v.Len()+1)
	out := reflect.MakeSlice(v.Type(), n, n)
	reflect.Copy(out, v)
	return out.Interface()
}
