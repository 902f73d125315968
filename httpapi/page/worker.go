package page

import (
	_ "embed" // the worker's script
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

//go:embed worker/worker.js
var workerScript []byte

// Worker is the script that serves the pages below scope while the node is away. release is the version of the node: another one
// makes another script, which a browser puts in the place of this one.
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
	return append(out, workerScript...), nil
}

func (r *Renderer) assetPath() string { return "/_/assets/" + r.version + "/" }

// Waiting is a write that waits to be sent, as its row is drawn. Scripts fill the rows of an open page; the gallery shows some.
type Waiting struct{ What, State, Say, Words string }
