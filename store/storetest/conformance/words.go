package conformance

import (
	"regexp"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// words are the pairs of messages, ours for one of DynamoDB Local's, that the suite knows.
type words struct {
	pairs    map[[2]string]bool
	variable *regexp.Regexp // what differs from request to request: what stands in brackets, names of three letters
}

func knownWords() (words, error) {
	w := words{pairs: map[[2]string]bool{}, variable: regexp.MustCompile(`\[.*?\]|\b\w{1,3}\b`)}
	files, err := Files()
	if err != nil {
		return w, err
	}
	for _, f := range files {
		for _, c := range f.Cases {
			for _, s := range c.Steps {
				if s.Differs != nil {
					w.pairs[w.pair(s.Want, s.Differs.Ours)] = true
				}
			}
		}
	}
	return w, nil
}

func (w words) pair(local, ours Answer) [2]string {
	return [2]string{w.variable.ReplaceAllString(local.Message, "_"), w.variable.ReplaceAllString(ours.Message, "_")}
}

// same compares two answers. Refusals have the same name, and the same message or one that is known to stand for it;
// where several things may be wrong, which of them is told is not documented.
func (w words) same(local, ours Answer, several bool) bool {
	switch {
	case local == ours:
		return true
	case local.Refusal == "" || ours.Refusal == "":
		return false
	case ours.Refusal == "TransactionCanceledException" && local.Refusal == "ValidationException":
		// What is wrong with one action DynamoDB Local says of all.
		return strings.Contains(ours.Message, "ValidationError")
	case local.Refusal == "TransactionCanceledException" && strings.Contains(ours.Message, "multiple operations on one item"):
		// Where a condition does not hold either, DynamoDB Local tells that first.
		return true
	case ours.Refusal == "TransactionCanceledException":
		// Of a TransactGetItems DynamoDB Local tells no reasons.
		return local.Refusal == ours.Refusal && (local.Body == "" || codes(local) == codes(ours))
	case several && local.Refusal == "ValidationException" && ours.Refusal == local.Refusal:
		return true
	}
	return local.Refusal == ours.Refusal && (local.Message == ours.Message && local.Body == ours.Body || w.pairs[w.pair(local, ours)])
}

// codes are the reasons of a cancelled transaction without their messages, which DynamoDB Local words otherwise, and
// without those behind the first ValidationError, which the service does not give and DynamoDB Local does.
func codes(a Answer) string {
	body, err := decode([]byte(a.Body))
	if err != nil {
		return err.Error()
	}
	list, _ := body["CancellationReasons"].([]any)
	invalid := false
	for i := range list {
		r, ok := list[i].(map[string]any)
		switch {
		case invalid:
			list[i] = map[string]any{"Code": "None"}
		case ok:
			delete(r, "Message")
			invalid = r["Code"] == "ValidationError"
		}
	}
	return canonical(body)
}

// normalNumbers brings the numbers in attribute values to their normal form.
func normalNumbers(v any) {
	switch v := v.(type) {
	case map[string]any:
		if text, ok := v["N"].(string); ok && len(v) == 1 {
			if n, err := attr.N(text); err == nil {
				v["N"] = n.Str()
			}
			return
		}
		if members, ok := v["NS"].([]any); ok && len(v) == 1 {
			for i, m := range members {
				one := map[string]any{"N": m}
				normalNumbers(one)
				members[i] = one["N"]
			}
			return
		}
		for _, elem := range v {
			normalNumbers(elem)
		}
	case []any:
		for _, elem := range v {
			normalNumbers(elem)
		}
	}
}
