package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// recorded begins the list on the page of differences.
const recorded = "\n## Recorded answers\n"

// Differences returns a page of differences with its last section written anew: all steps that our API answers differently, by reason.
func Differences(page string, files []*File) string {
	steps := map[string][]string{} // by reason
	for _, f := range files {
		for _, c := range f.Cases {
			for _, s := range c.Steps {
				if d := s.Differs; d != nil {
					side := cmp.Or(map[string]string{"ours": "our API", "local": "DynamoDB Local"}[d.Agrees], d.Agrees)
					why := fmt.Sprintf("**%s.** Agrees with DynamoDB's documentation: %s.", strings.TrimSuffix(d.Why, "."), side)
					steps[why] = append(steps[why], fmt.Sprintf("- %s, %s: `%s`", f.Name, c.Name, start(s.head)))
				}
			}
		}
	}
	prose, _, _ := strings.Cut(page, recorded)
	var out strings.Builder
	out.WriteString(prose + recorded)
	for _, why := range slices.Sorted(maps.Keys(steps)) {
		fmt.Fprintf(&out, "\n%s Steps: %d.\n\n%s\n", why, len(steps[why]), strings.Join(steps[why], "\n"))
	}
	return out.String()
}

// start returns the first bytes of a request as one line. The case has all of it.
func start(request string) string {
	const shown = 120
	request = strings.ReplaceAll(request, "\n ", "")
	if len(request) > shown {
		request = strings.ToValidUTF8(request[:shown], "") + " ..."
	}
	return request
}
