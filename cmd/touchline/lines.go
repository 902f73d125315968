package main

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// keyLines gives the line of every key of a YAML document, so that a complaint can name it.
func keyLines(raw []byte) (map[string]int, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("%s", oneLine(err))
	}
	lines := map[string]int{}
	if len(doc.Content) == 0 {
		return lines, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want keys and values", doc.Content[0].Line)
	}
	collectLines(doc.Content[0], "", lines)
	return lines, nil
}

func collectLines(n *yaml.Node, prefix string, lines map[string]int) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		lines[prefix+key.Value] = key.Line
		if value.Kind == yaml.MappingNode {
			collectLines(value, prefix+key.Value+".", lines)
		}
	}
}
