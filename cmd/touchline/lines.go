package main

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/touchline/touchline/internal/strictyaml"
)

// keyPlace is where a key stands in a YAML document, and its value as it is written there; "" where that is no scalar.
type keyPlace struct {
	line int
	text string
}

// or is the text, and where there is none the value as YAML reads it.
func (p keyPlace) or(value any) any {
	if p.text == "" {
		return value
	}
	return p.text
}

// keyPlaces returns the line of every key of a YAML document, so that a complaint can name it, and the text of its value:
// an id such as 0123456789 is a number to YAML, and has lost its zero when it is one.
func keyPlaces(raw []byte) (map[string]keyPlace, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, errors.New(strictyaml.Syntax(err).String())
	}
	places := map[string]keyPlace{}
	if len(doc.Content) == 0 {
		return places, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected keys and values", doc.Content[0].Line)
	}
	return places, collectPlaces(doc.Content[0], "", places)
}

func collectPlaces(n *yaml.Node, prefix string, places map[string]keyPlace) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		place := keyPlace{line: key.Line}
		if first, twice := places[prefix+key.Value]; twice {
			return fmt.Errorf("line %d: repeats the key of line %d", key.Line, first.line)
		}
		switch value.Kind {
		case yaml.MappingNode:
			if err := collectPlaces(value, prefix+key.Value+".", places); err != nil {
				return err
			}
		case yaml.ScalarNode:
			place.text = value.Value
		}
		places[prefix+key.Value] = place
	}
	return nil
}
