package page

import (
	"bytes"
	_ "embed" // the worker's script
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

//go:embed worker/worker.js
var workerScript []byte

// Worker returns the service worker that serves the pages below scope while the node is unreachable. release is the version of the
// pages: with another one the script differs, and browsers replace the worker.
func (r *Renderer) Worker(scope, release string) ([]byte, error) {
	assets := make([]string, 0, len(r.assets))
	for _, name := range slices.Sorted(maps.Keys(r.assets)) {
		assets = append(assets, r.assetPath()+name)
	}
	var out []byte
	for _, line := range []struct {
		name  string
		value any
	}{{"VERSION", release}, {"SCOPE", scope}, {"ASSETS", assets}} {
		value, err := json.Marshal(line.value)
		if err != nil {
			return nil, fmt.Errorf("worker: %w", err)
		}
		out = fmt.Appendf(out, "const %s = %s;\n", line.name, value)
	}
	functions, ok := r.assets["request.js"]
	if !ok {
		return nil, errors.New("worker: there is no request.js")
	}
	out = append(out, bytes.ReplaceAll(functions.Body, []byte("\nexport "), []byte("\n"))...) // a classic script: not all browsers have modules here
	return append(out, workerScript...), nil
}

func (r *Renderer) assetPath() string { return "/_/assets/" + r.version + "/" }

// Waiting is the row of a write that is waiting to be sent. Scripts fill the rows of open pages; the gallery shows examples.
type Waiting struct{ What, State, Say, Words string }
