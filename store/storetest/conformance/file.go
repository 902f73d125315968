package conformance

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed testdata/*.txt
var testdata embed.FS

// File is an area of the suite.
type File struct {
	Name   string
	Tables []string // CreateTable requests
	Lets   []string // pairs of name and text for %[name] in requests
	Cases  []*Case

	parts []any // the content of the file in order: unparsed lines, and steps
}

// Case is a sequence of requests that starts with empty tables.
type Case struct {
	Name  string
	Steps []*Step
}

// Step is a request and its expected answer.
type Step struct {
	Line      int
	Operation string
	Modes     []string
	Times     int
	Request   string // not expanded yet
	Want      Answer // of DynamoDB Local
	Recorded  bool   // there is a Want
	Differs   *Difference

	head string // the lines of the request
}

// Difference is a different answer of our store.
type Difference struct {
	Agrees string // the side that agrees with DynamoDB's documentation: "ours", "local", "both" or "neither"
	Why    string
	Ours   Answer
}

// AnswerOf returns the answer expected from one side.
func (s *Step) AnswerOf(side Side) Answer {
	if side == Ours && s.Differs != nil {
		return s.Differs.Ours
	}
	return s.Want
}

// Files reads the files of the suite.
func Files() ([]*File, error) {
	names, err := fs.Glob(testdata, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	var files []*File
	for _, name := range names {
		data, err := testdata.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parse(strings.TrimSuffix(path.Base(name), ".txt"), string(data))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// parse parses a file.
func parse(name, text string) (*File, error) {
	p := parser{file: &File{Name: name}}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if err := p.line(n+1, line); err != nil {
			return nil, fmt.Errorf("%s.txt:%d: %w", name, n+1, err)
		}
	}
	return p.file, nil
}

type parser struct {
	file *File
	step *Step
	last *Answer // the answer that indented lines belong to; nil: they continue the request
}

func (p *parser) line(n int, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if word == "" && rest != "" {
		return p.more(line)
	}
	switch word {
	case "=", "!":
		return p.answer(line)
	case "differs":
		return p.differs(rest)
	case "ours":
		if p.step == nil || p.step.Differs == nil {
			return fmt.Errorf("%q without the line that says why", word)
		}
		p.last = &p.step.Differs.Ours
		return parseAnswer(rest, p.last)
	}
	p.last = nil
	switch word {
	case "", "#":
	case "let":
		name, text, _ := strings.Cut(rest, " ")
		p.file.Lets = append(p.file.Lets, "%["+name+"]", text)
	case "table":
		p.file.Tables = append(p.file.Tables, rest)
	case "case":
		p.file.Cases = append(p.file.Cases, &Case{Name: rest})
	default:
		return p.request(n, word, rest, line)
	}
	p.step = nil
	p.file.parts = append(p.file.parts, line)
	return nil
}

func (p *parser) request(n int, word, request, line string) error {
	if len(p.file.Cases) == 0 {
		return fmt.Errorf("%q outside a case", word)
	}
	word, times, _ := strings.Cut(word, "*")
	modes := strings.Split(word, "/")
	p.step = &Step{Line: n, Operation: modes[0], Modes: modes[1:], Times: 1, Request: request, head: line}
	if times != "" {
		var err error
		if p.step.Times, err = strconv.Atoi(times); err != nil {
			return err
		}
	}
	c := p.file.Cases[len(p.file.Cases)-1]
	c.Steps = append(c.Steps, p.step)
	p.file.parts = append(p.file.parts, p.step)
	return nil
}

// more parses an indented line.
func (p *parser) more(line string) error {
	switch {
	case p.step == nil:
		return fmt.Errorf("an indented line that belongs to nothing")
	case p.last != nil:
		p.last.Body = strings.TrimSpace(line)
	default:
		p.step.head += "\n" + line
		p.step.Request += strings.TrimSpace(line)
	}
	return nil
}

func (p *parser) answer(line string) error {
	if p.step == nil || p.step.Recorded {
		return fmt.Errorf("an answer without a request")
	}
	p.step.Recorded, p.last = true, &p.step.Want
	return parseAnswer(line, p.last)
}

func parseAnswer(line string, into *Answer) error {
	sign, text, _ := strings.Cut(line, " ")
	switch sign {
	case "=":
		into.Body = text
	case "!":
		into.Refusal, into.Message, _ = strings.Cut(text, ": ")
	default:
		return fmt.Errorf("want = or !, not %q", sign)
	}
	return nil
}

func (p *parser) differs(text string) error {
	agrees, why, _ := strings.Cut(text, ": ")
	if p.step == nil || why == "" || !slices.Contains([]string{"ours", "local", "both", "neither"}, agrees) {
		return fmt.Errorf("want the side that agrees with the documentation and the reason, not %q", text)
	}
	p.step.Differs = &Difference{Agrees: agrees, Why: why}
	return nil
}

// String returns the file's text, with the current answers of the steps.
func (f *File) String() string {
	var out strings.Builder
	for _, part := range f.parts {
		fmt.Fprintln(&out, part)
	}
	return out.String()
}

// String returns the lines of the step.
func (s *Step) String() string {
	out := s.head + "\n" + s.Want.String()
	if s.Differs != nil {
		out += fmt.Sprintf("\ndiffers %s: %s\nours %s", s.Differs.Agrees, s.Differs.Why, s.Differs.Ours)
	}
	return out
}
