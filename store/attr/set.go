package attr

import (
	"encoding/base64"
	"slices"
	"strings"
)

// SS makes a string set. An empty set and a member given twice are refused, as DynamoDB does. The order of the
// members means nothing; they are held ascending, so that equal sets are equal bytes.
func SS(members ...string) (Value, error) {
	if len(members) == 0 {
		return Value{}, invalid("One or more parameter values were invalid: An string set  may not be empty")
	}
	set := slices.Clone(members)
	slices.Sort(set)
	if hasTwins(set) {
		return Value{}, invalid("One or more parameter values were invalid: Input collection [%s] contains duplicates.",
			strings.Join(members, ", "))
	}
	return Value{kind: KindSS, many: set}, nil
}

// NS makes a number set of number texts: 1 and 1.0 are the same member.
func NS(members ...string) (Value, error) {
	if len(members) == 0 {
		return Value{}, invalid("One or more parameter values were invalid: An number set  may not be empty")
	}
	set := make([]string, len(members))
	for i, text := range members {
		n, err := N(text)
		if err != nil {
			return Value{}, err
		}
		set[i] = n.text
	}
	slices.SortFunc(set, compareNumbers)
	if hasTwins(set) {
		return Value{}, invalid("Input collection contains duplicates")
	}
	return Value{kind: KindNS, many: set}, nil
}

// BS makes a set of copies of the members.
func BS(members ...[]byte) (Value, error) {
	set := make([]string, len(members))
	for i, m := range members {
		set[i] = string(m)
	}
	return binarySet(set)
}

func binarySet(members []string) (Value, error) {
	if len(members) == 0 {
		return Value{}, invalid("One or more parameter values were invalid: Binary sets should not be empty")
	}
	set := slices.Clone(members)
	slices.Sort(set)
	if hasTwins(set) {
		return Value{}, invalid("One or more parameter values were invalid: Input collection [%s]of type BS contains duplicates.",
			strings.Join(base64Texts(members), ", "))
	}
	return Value{kind: KindBS, many: set}, nil
}

func base64Texts(members []string) []string {
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = base64.StdEncoding.EncodeToString([]byte(m))
	}
	return texts
}

// hasTwins tells whether a sorted set holds a member twice.
func hasTwins(set []string) bool {
	for i := 1; i < len(set); i++ {
		if set[i] == set[i-1] {
			return true
		}
	}
	return false
}
