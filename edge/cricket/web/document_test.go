package web

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi"
	rigcontract "github.com/touchline/touchline/internal/testrig/contract"
)

// The document names every phase that a match can be in, and every property of a display and its parts.
func TestDocumentNamesWhatADisplayHas(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	for _, p := range cricket.Phases() {
		phases = append(phases, string(p))
	}
	slices.Sort(phases)
	for _, name := range []string{"Match", "Display"} {
		var named []string
		for _, v := range doc.Components.Schemas[name].Value.Properties["phase"].Value.Enum {
			text, _ := v.(string)
			named = append(named, text)
		}
		slices.Sort(named)
		if !slices.Equal(named, phases) {
			t.Errorf("%s has the phases %q, matches %q", name, named, phases)
		}
	}
	for name, part := range map[string]any{
		"Display": cricket.Display{}, "TeamScore": cricket.TeamScore{}, "Batter": cricket.Batter{}, "Bowler": cricket.Bowler{},
		"KeyEvent": cricket.KeyEvent{}, "LastBall": cricket.BallMark{}, "InningsLine": cricket.InningsLine{},
	} {
		named := doc.Components.Schemas[name].Value.Properties
		for field := range reflect.TypeOf(part).Fields() {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if named[tag] == nil {
				t.Errorf("%s has no %q", name, tag)
			}
		}
		if n := reflect.TypeOf(part).NumField(); n != len(named) {
			t.Errorf("%s has %d properties in the document and %d in the code", name, len(named), n)
		}
	}
}

// The operations of the OpenAPI document are the handlers.
func TestOperationsAreHandlers(t *testing.T) {
	others := append(httpapi.OperatorRoutes(), httpapi.Route{Method: "GET", Path: "/openapi.yaml"}, httpapi.Route{Method: "GET", Path: "/openapi.json"})
	rigcontract.Read(t, openAPI).CheckOperations(t, (&handlers{}).routes(), others...)
}

// Generators make a function of each operation and a type of each component, in one namespace, often on a file system that
// ignores case. So each name must be an identifier, and unique without regard to case.
func TestDocumentNamesDoNotClash(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]string{}
	take := func(name, by string) {
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`).MatchString(name) {
			t.Errorf("%s: %q is not an identifier", by, name)
		}
		if other, ok := taken[strings.ToLower(name)]; ok {
			t.Errorf("%q is the name of %s and of %s", name, other, by)
		}
		taken[strings.ToLower(name)] = by
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			by := method + " " + path
			take(op.OperationID, by)
			for _, suffix := range []string{"Params", "Request", "Response", "JSONBody", "JSONRequestBody"} {
				take(op.OperationID+suffix, "the "+suffix+" of "+by)
			}
		}
	}
	c := doc.Components
	for name, s := range c.Schemas {
		take(name, "a schema")
		// Generators rename types that their language already has, each in its own way.
		if slices.Contains([]string{"Error", "Data", "Date", "String", "Result", "Response", "Request"}, name) {
			t.Errorf("%s is a built-in type of some languages", name)
		}
		for member, v := range s.Value.Properties {
			if v.Value.Type.Is("array") && v.Value.Items.Ref == "" && v.Value.Items.Value.Type.Is("object") {
				t.Errorf("the objects in %s.%s have no name", name, member)
			}
		}
	}
	takeAll(c.Parameters, take, "a parameter")
	takeAll(c.RequestBodies, take, "a request body")
	takeAll(c.Responses, take, "a response")
}

func takeAll[V any](of map[string]V, take func(name, by string), by string) {
	for name := range of {
		take(name, by)
	}
}

// YAML 1.1, which many generators use, reads no, on, y and the like as booleans.
func TestDocumentReadsTheSameInYAML11(t *testing.T) {
	var root yaml.Node
	if err := yaml.Unmarshal(openAPI, &root); err != nil {
		t.Fatal(err)
	}
	truth := regexp.MustCompile(`(?i)^(y|n|yes|no|on|off)$`)
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Style == 0 && truth.MatchString(n.Value) {
			t.Errorf("line %d: %s needs quotes", n.Line, n.Value)
		}
		for _, inner := range n.Content {
			walk(inner)
		}
	}
	walk(&root)
}
