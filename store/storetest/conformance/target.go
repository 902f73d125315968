package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// Target is an implementation that can be checked against the suite.
type Target interface {
	// Do takes the name of an operation and a request in DynamoDB's JSON, and returns the JSON answer. What DynamoDB would refuse is an
	// error with a method Wire() []byte that returns the body DynamoDB would send: __type, message and other fields. Any other error ends
	// the test.
	Do(ctx context.Context, operation string, request []byte) (answer []byte, err error)
}

// Answer is the answer to a request, in a form common to all targets.
type Answer struct {
	Refusal string // name of the exception; empty: none
	Message string // of the exception
	Body    string // JSON: the answer, or the other fields of the exception
}

// String returns the answer in the format of the files.
func (a Answer) String() string {
	if a.Refusal == "" {
		return "= " + a.Body
	}
	out := "! " + a.Refusal + ": " + a.Message
	if a.Body != "" {
		out += "\n  " + a.Body
	}
	return out
}

// refusal reads the body of an error, if it has one.
func refusal(err error) (Answer, error) {
	wire, ok := errors.AsType[interface {
		error
		Wire() []byte
	}](err)
	if !ok {
		return Answer{}, err
	}
	body, err := decode(wire.Wire())
	if err != nil {
		return Answer{}, err
	}
	a := Answer{}
	for name, v := range body {
		text, _ := v.(string)
		switch name {
		case "__type":
			a.Refusal = text[strings.LastIndexByte(text, '#')+1:]
			delete(body, name)
		case "message", "Message":
			a.Message = strings.ReplaceAll(text, "\n", `\n`)
			delete(body, name)
		}
	}
	if len(body) > 0 {
		a.Body = canonical(body)
	}
	return a, nil
}

// decode parses a JSON object and keeps the spelling of its numbers.
func decode(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out map[string]any
	err := d.Decode(&out)
	return out, err
}
