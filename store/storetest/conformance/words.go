package conformance

import (
	"regexp"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// words holds the pairs of messages, DynamoDB Local's and ours, that occur in the suite.
type words struct {
	pairs    map[[2]string]bool
	variable *regexp.Regexp // matches what varies between requests: text in brackets, words of up to three letters
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

// sameAnswer compares two answers. Refusals must have the same name, and the same message or a pair known from the suite. Where several things
// may be wrong, it is undocumented which of them is reported.
func (w words) sameAnswer(local, ours Answer, several bool) bool {
	switch {
	case local == ours:
		return true
	case local.Refusal == "" || ours.Refusal == "":
		return false
	case ours.Refusal == "TransactionCanceledException" && local.Refusal == "ValidationException":
		// DynamoDB Local refuses the whole request for a fault of one action.
		return strings.Contains(ours.Message, "ValidationError")
	case local.Refusal == "TransactionCanceledException" && strings.Contains(ours.Message, "multiple operations on one item"):
		// DynamoDB Local reports a failed condition first.
		return true
	case ours.Refusal == "TransactionCanceledException":
		// DynamoDB Local returns no reasons for a TransactGetItems.
		return local.Refusal == ours.Refusal && (local.Body == "" || codes(local) == codes(ours))
	case several && local.Refusal == "ValidationException" && ours.Refusal == local.Refusal:
		return true
	}
	return local.Refusal == ours.Refusal && (local.Message == ours.Message && local.Body == ours.Body || w.pairs[w.pair(local, ours)])
}

// codes returns the reasons of a cancelled transaction without their messages, whose wording differs in DynamoDB Local, and without those
// after the first ValidationError, which DynamoDB Local returns but the service does not.
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

// normalNumbers converts the numbers in attribute values to their normal form.
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
				number := map[string]any{"N": m}
				normalNumbers(number)
				members[i] = number["N"]
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
