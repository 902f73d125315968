// Package strictyaml decodes a small handwritten YAML or JSON file into a struct and reports everything that is wrong with it at once, by
// line and key: unknown or repeated keys, values of the wrong type, aliases. It never repeats a value, because it may be a secret.
//
// Keys have the names in the tag yaml. A field is a string, a bool, an integer, a float64, a time.Duration ("50ms"), a struct, a slice of
// these, or a map of structs with names chosen by the author; the fields of an embedded struct are the outer struct's own. A string may
// be any scalar, as written: an id such as 0123456789 keeps its zero. A list of strings may be one string with commas. The value of a
// field with the tag secret:"true" may be in a file of its own, named by the key with the suffix _file. The path of a key has the form
// rules[0].tables[1].
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/touchline/touchline/internal/secretfile"
)

// Sectioned is a struct that has sections in addition to its fields.
type Sectioned interface {
	// Sections returns pointers to structs, by their keys.
	Sections() map[string]any
}

// Decode decodes a file into the struct that into points to. Fields that are not in the file stay as they are.
func Decode(raw []byte, into any) (Lines, []Problem) { return DecodeIn("", raw, into) }

// DecodeIn is Decode for a file whose secret files are in dir, unless their paths say otherwise.
func DecodeIn(dir string, raw []byte, into any) (Lines, []Problem) {
	d := decoder{dir: dir, lines: Lines{}}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		raw = bytes.ReplaceAll(raw, []byte("\t"), []byte(" ")) // JSON may be indented with tabs and cannot have them in strings
	}
	file := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	switch err := file.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return d.lines, nil
	case err != nil:
		return d.lines, []Problem{syntax(err)}
	}
	if err := file.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return d.lines, []Problem{{Text: "must be one document"}}
	}
	if root := doc.Content[0]; root.Kind != yaml.ScalarNode || root.Tag != "!!null" {
		d.value(root, "", reflect.ValueOf(into).Elem())
	}
	return d.lines, d.problems
}

// said is the tag of a value that is not from a file: its type is that of the field.
const said = "!said"

// Set sets one value of the struct that into points to from a text, such as a flag's value. key is its path, with dots.
func Set(into any, key, text string) []Problem {
	d := decoder{lines: Lines{}}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: said, Value: text}
	for _, name := range slices.Backward(strings.Split(key, ".")) {
		n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, n}}
	}
	d.value(n, "", reflect.ValueOf(into).Elem())
	return d.problems
}

var syntaxError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntax returns the problem of a file that is not YAML. It does not repeat the name of an unknown alias, which could be a secret that
// begins with an asterisk.
func syntax(err error) Problem {
	p := Problem{Text: "is not YAML"}
	m := syntaxError.FindStringSubmatch(err.Error())
	if m == nil {
		return p
	}
	p.Line, _ = strconv.Atoi(m[1]) // digits, or empty
	for _, known := range []struct{ text, words string }{
		{"did not find expected ',' or ']'", "a list in brackets is not closed"},
		{"did not find expected ',' or '}'", "an object in braces is not closed"},
		{"did not find expected key", "the indentation does not fit the lines above"},
		{"did not find expected '-'", "the indentation does not fit the lines above"},
		{"mapping values are not allowed", "there is a colon inside a value: put the value in quotes, or look at the indentation"},
		{"could not find expected ':'", "a key has no colon"},
		{"cannot start any token", "a line begins with a character that it cannot, such as a tab: indent with spaces"},
		{"found unexpected end of stream", "a quotation mark is missing"},
	} {
		if strings.Contains(m[2], known.text) {
			p.Text += ": " + known.words
		}
	}
	return p
}

// IsNear reports whether a name is so similar to a known one that it is probably a typo. Any other name may be a secret in the wrong place
// and must not be shown.
func IsNear(name string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return distance(name, k) <= 2 })
}

// distance returns the number of letters to add, remove or change (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

type decoder struct {
	dir      string // for relative file names; empty: the working directory
	lines    Lines
	problems []Problem
}

func (d *decoder) bad(n *yaml.Node, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{n.Line, key, fmt.Sprintf(format, args...)})
}

// value decodes a node into v.
func (d *decoder) value(n *yaml.Node, key string, v reflect.Value) {
	kind := v.Kind()
	keyed := kind == reflect.Struct || kind == reflect.Map
	switch {
	case n.Kind == yaml.AliasNode:
		d.bad(n, key, "must be written out: aliases are not supported")
	case keyed && n.Kind == yaml.MappingNode:
		d.object(n, key, v)
	case keyed && n.Tag == "!!null": // an empty section
	case kind == reflect.Slice && n.Kind == yaml.SequenceNode:
		d.list(n, key, v)
	case keyed:
		d.bad(n, key, "must be keys and values")
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null" || !scalar(n, v):
		d.bad(n, key, "must be %s", wantedType(v.Type()))
	}
}

func (d *decoder) list(n *yaml.Node, key string, v reflect.Value) {
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, element := range n.Content {
		path := fmt.Sprintf("%s[%d]", key, i)
		d.lines[path] = element.Line
		d.value(element, path, v.Index(i))
	}
}

func (d *decoder) object(n *yaml.Node, key string, v reflect.Value) {
	known := fieldsOf(v)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		path := name.Value
		if key != "" {
			path = key + "." + path
		}
		field, ok := known[name.Value]
		switch {
		case name.Kind == yaml.ScalarNode && seen[name.Value]:
			d.bad(name, path, "comes twice")
			continue
		case name.Kind == yaml.ScalarNode && v.Kind() == reflect.Map && ownName.MatchString(name.Value):
			d.entry(value, path, v, name.Value)
		case v.Kind() == reflect.Map:
			d.bad(name, key, "has a name with characters other than letters, digits, _ and -")
			continue
		case name.Kind != yaml.ScalarNode || !ok:
			// If a colon is missing or misplaced, the name may be anything: it is shown only if it looks like a key.
			d.bad(name, key, "%s", unknown(name, slices.Collect(maps.Keys(known))))
			continue
		case seen[field.other]:
			d.bad(name, path, "cannot be combined with %s", field.other)
			continue
		case field.inFile:
			secret := strings.TrimSuffix(path, fileSuffix)
			d.lines[secret] = name.Line
			d.secret(value, secret, field.value)
		default:
			d.value(value, path, field.value)
		}
		seen[name.Value] = true
		d.lines[path] = name.Line
	}
}

// ownName matches names that the author chooses for sections.
var ownName = regexp.MustCompile(`^[\w-]+$`)

// entry decodes a section with a name chosen by the author.
func (d *decoder) entry(n *yaml.Node, path string, sections reflect.Value, name string) {
	section := reflect.New(sections.Type().Elem()).Elem()
	if has := sections.MapIndex(reflect.ValueOf(name)); has.IsValid() {
		section.Set(has)
	}
	d.value(n, path, section)
	if sections.IsNil() {
		sections.Set(reflect.MakeMap(sections.Type()))
	}
	sections.SetMapIndex(reflect.ValueOf(name), section)
}

const (
	fileSuffix    = "_file"
	maxSecretFile = 64 << 10 // bytes: enough for a certificate chain
)

// secret reads the value in the file that a node names. The name itself may be the secret, so it is not shown.
func (d *decoder) secret(n *yaml.Node, key string, v reflect.Value) {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		d.bad(n, key+fileSuffix, "must be a file's name")
		return
	}
	file := filepath.Clean(n.Value)
	if !filepath.IsAbs(file) {
		file = filepath.Join(d.dir, file)
	}
	raw, err := secretfile.Read(file, maxSecretFile)
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	text := strings.TrimSpace(string(raw))
	switch {
	case err != nil:
		d.bad(n, "", "cannot read the file for %s: %s", key, err)
	case text == "":
		d.bad(n, "", "there is nothing in the file for %s", key)
	}
	v.SetString(text)
}

func unknown(name *yaml.Node, known []string) string {
	if name.Kind == yaml.ScalarNode && IsNear(name.Value, known) {
		return "unknown key " + name.Value
	}
	return "has an unknown key"
}

// field is the target of a key: the value, or the file of a secret.
type field struct {
	value  reflect.Value
	inFile bool
	other  string // the key of the secret's file, or of the secret: both cannot be given
}

// fieldsOf returns the fields of a struct and its sections, by their keys; none for a map.
func fieldsOf(v reflect.Value) map[string]field {
	out := map[string]field{}
	if v.Kind() != reflect.Struct {
		return out
	}
	for f, value := range v.Fields() {
		name := f.Tag.Get("yaml")
		if f.Anonymous && f.IsExported() {
			maps.Copy(out, fieldsOf(value))
		}
		if !f.IsExported() || name == "-" || name == "" {
			continue
		}
		out[name] = field{value: value}
		if f.Tag.Get("secret") == "true" {
			out[name] = field{value: value, other: name + fileSuffix}
			out[name+fileSuffix] = field{value, true, name}
		}
	}
	if s, ok := reflect.TypeAssert[Sectioned](v.Addr()); ok {
		for name, section := range s.Sections() {
			out[name] = field{value: reflect.ValueOf(section).Elem()}
		}
	}
	return out
}

// scalar sets v, and reports whether the node has its type.
func scalar(n *yaml.Node, v reflect.Value) bool {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		length, err := time.ParseDuration(n.Value)
		v.SetInt(int64(length))
		return err == nil
	}
	is := func(tag string) bool { return n.Tag == tag || n.Tag == said }
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
		return true
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.String {
			return false
		}
		v.Set(reflect.ValueOf(listOf(n.Value)).Convert(v.Type()))
		return true
	case reflect.Bool:
		on, err := strconv.ParseBool(n.Value)
		v.SetBool(on)
		return is("!!bool") && err == nil
	case reflect.Int, reflect.Int64:
		whole, err := strconv.ParseInt(n.Value, 10, 64)
		v.SetInt(whole)
		return is("!!int") && err == nil
	case reflect.Uint64:
		whole, err := strconv.ParseUint(n.Value, 10, 64)
		v.SetUint(whole)
		return is("!!int") && err == nil
	case reflect.Float64:
		number, err := strconv.ParseFloat(n.Value, 64)
		v.SetFloat(number)
		return (is("!!int") || is("!!float")) && err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
	}
	panic("strictyaml: a field of type " + v.Type().String())
}

// listOf splits a list at its commas.
func listOf(text string) []string {
	list := []string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

func wantedType(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "a duration, such as 50ms or 2s"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "a text"
}
