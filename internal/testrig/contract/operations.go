package contract

import (
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi"
)

var pathParameter = regexp.MustCompile(`:\w+|\{\w+\}`)

// CheckOperations fails the test if the document's operations are not those of an API's routes: each operationId is the name of its handler's
// method, so that a search for one finds the other. others are routes that the document describes and the framework serves.
func (d *Document) CheckOperations(t *testing.T, routes []httpapi.Route, others ...httpapi.Route) {
	t.Helper()
	served := map[string]string{}
	for i := range routes {
		served[operationAt(routes[i].Method, routes[i].Path)] = methodName(routes[i].Handle)
	}
	described := map[string]string{}
	for path, item := range d.paths {
		for method, operation := range item.Operations() {
			described[operationAt(method, path)] = operation.OperationID
		}
	}
	for i := range others {
		delete(described, operationAt(others[i].Method, others[i].Path))
	}
	all := maps.Clone(served)
	maps.Copy(all, described)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if served[at] != described[at] {
			t.Errorf("%s: the handler is %q, the document's operationId %q", at, served[at], described[at])
		}
	}
}

// operationAt returns a method and a path, whatever the path's parameters are called: "GET /games/{}".
func operationAt(method, path string) string {
	return method + " " + pathParameter.ReplaceAllString(path, "{}")
}

// methodName returns the name of a method value: "getGame" of h.getGame.
func methodName(handler func(*httpapi.Request) (httpapi.Response, error)) string {
	name := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	name = strings.TrimSuffix(name, "-fm") // how the compiler marks method values
	return name[strings.LastIndex(name, ".")+1:]
}
