package contract

import (
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var pathParameter = regexp.MustCompile(`:\w+|\{\w+\}`)

// CheckOperations fails the test if the document's operations are not those of an API's handlers, by method and path, such as "GET /games/:id":
// each operationId is the name of its handler's method, so that a search for one finds the other.
func (d *Document) CheckOperations(t *testing.T, handlers map[string]any) {
	t.Helper()
	served := map[string]string{}
	for at, handler := range handlers {
		served[pathParameter.ReplaceAllString(at, "{}")] = methodName(handler)
	}
	described := map[string]string{}
	for path, item := range d.paths {
		for method, operation := range item.Operations() {
			described[method+" "+pathParameter.ReplaceAllString(path, "{}")] = operation.OperationID
		}
	}
	all := maps.Clone(served)
	maps.Copy(all, described)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if served[at] != described[at] {
			t.Errorf("%s: the handler is %q, the document's operationId %q", at, served[at], described[at])
		}
	}
}

// methodName returns the name of a method value: "getGame" of h.getGame.
func methodName(handler any) string {
	name := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	name = strings.TrimSuffix(name, "-fm") // how the compiler marks method values
	return name[strings.LastIndex(name, ".")+1:]
}
