package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// shortest is the length from which a run of one letter is contracted.
const shortest = 100

// patterns are the replacements made in requests.
type patterns struct {
	lets          *strings.Replacer
	repeat, count *regexp.Regexp
}

func newPatterns(lets []string) patterns {
	return patterns{
		lets:   strings.NewReplacer(lets...),
		repeat: regexp.MustCompile(`%\{(.+?)\*(\d+)\}`),
		count:  regexp.MustCompile(`%(\d*)n`),
	}
}

// expand returns a request with everything filled in, for the n-th time it is sent.
func (p patterns) expand(text string, n int) string {
	text = p.lets.Replace(text)
	text = p.repeat.ReplaceAllStringFunc(text, func(m string) string {
		parts := p.repeat.FindStringSubmatch(m)
		times, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], times)
	})
	return p.count.ReplaceAllStringFunc(text, func(m string) string {
		return fmt.Sprintf(strings.TrimSuffix(m, "n")+"d", n)
	})
}

// contract writes long runs of one letter as %{x*400}.
func contract(text string) string {
	if len(text) < shortest {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		end := i + 1
		for end < len(text) && text[end] == text[i] {
			end++
		}
		if end-i >= shortest && text[i] < 0x80 {
			fmt.Fprintf(&out, "%%{%c*%d}", text[i], end-i)
		} else {
			out.WriteString(text[i:end])
		}
		i = end
	}
	return out.String()
}

// Expand returns the request of a step with everything filled in, as it is first sent.
func (f *File) Expand(s *Step) string { return newPatterns(f.Lets).expand(s.Request, 1) }
