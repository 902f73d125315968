package expr

import (
	"errors"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

// TestConditionsInUse has conditions with which applications guard their writes.
func TestConditionsInUse(t *testing.T) {
	const (
		takeLock  = "attribute_not_exists(lockKey) OR expiresAt < :now OR (holder = :me AND fence = :fence)"
		idle      = "attribute_not_exists(#s) OR #s = :idle OR expiresAt < :now"
		usable    = "tokenHash = :h AND attribute_not_exists(usedAt) AND expiresAtEpoch >= :now"
		ghost     = "attribute_exists(PK) AND isGhost = :true"
		untouched = "updatedAt = :at AND #d = :d"
		guesses   = "size(guesses) = :three AND NOT contains(guesses, :word)"
	)
	params := Params{
		Names: map[string]string{"#s": "status", "#d": "data"},
		Values: attr.Item{":now": attr.Int(100), ":me": attr.S("node-1"), ":fence": attr.Int(7), ":idle": attr.S("idle"),
			":h": attr.S("abc"), ":true": attr.Bool(true), ":at": attr.S("2026-01-01T00:00:00.000Z"),
			":d": attr.M(attr.Item{"n": attr.Int(1)}), ":three": attr.Int(3), ":word": attr.S("CRANE")},
	}
	for _, c := range []struct {
		text, item string
		want       bool
	}{
		{takeLock, `{}`, true},
		{takeLock, `{"lockKey":{"S":"k"},"expiresAt":{"N":"99"},"holder":{"S":"node-2"}}`, true},
		{takeLock, `{"lockKey":{"S":"k"},"expiresAt":{"N":"100"},"holder":{"S":"node-2"},"fence":{"N":"7"}}`, false},
		{takeLock, `{"lockKey":{"S":"k"},"expiresAt":{"N":"500"},"holder":{"S":"node-1"},"fence":{"N":"7.0"}}`, true},
		{takeLock, `{"lockKey":{"S":"k"},"expiresAt":{"S":"1"}}`, false},
		{idle, `{"status":{"S":"idle"},"expiresAt":{"N":"500"}}`, true},
		{idle, `{"status":{"S":"busy"},"expiresAt":{"N":"500"}}`, false},
		{idle, `{"status":{"S":"busy"},"expiresAt":{"N":"5"}}`, true},
		{usable, `{"tokenHash":{"S":"abc"},"expiresAtEpoch":{"N":"100"}}`, true},
		{usable, `{"tokenHash":{"S":"abc"},"expiresAtEpoch":{"N":"100"},"usedAt":{"NULL":true}}`, false},
		{usable, `{"tokenHash":{"S":"abc"}}`, false},
		{ghost, `{"PK":{"S":"p"},"isGhost":{"BOOL":true}}`, true},
		{ghost, `{"PK":{"S":"p"},"isGhost":{"S":"true"}}`, false},
		{ghost, `{}`, false},
		{untouched, `{"updatedAt":{"S":"2026-01-01T00:00:00.000Z"},"data":{"M":{"n":{"N":"1.0"}}}}`, true},
		{untouched, `{"updatedAt":{"S":"2026-01-01T00:00:00.000Z"},"data":{"M":{"n":{"N":"2"}}}}`, false},
		{guesses, `{"guesses":{"L":[{"S":"A"},{"S":"B"},{"S":"C"}]}}`, true},
		{guesses, `{"guesses":{"L":[{"S":"A"},{"S":"CRANE"},{"S":"C"}]}}`, false},
	} {
		cond, err := parseCondition(formCondition, c.text, params)
		if err != nil {
			t.Fatal(err)
		}
		it := mustItem(t, c.item)
		for name, doc := range map[string]Doc{"item": Item(it), "encoded": attr.Encoded(attr.Encode(nil, it))} {
			if got, err := cond.Match(doc); got != c.want || err != nil {
				t.Errorf("%s of %s (%s): %v %v", c.text, c.item, name, got, err)
			}
		}
	}
}

func TestMatchNoItem(t *testing.T) {
	cond, err := parseCondition(formCondition, "attribute_not_exists(a) AND a <> :x AND NOT a = :x", one)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []Doc{nil, Item(nil), Item{}} {
		if ok, err := cond.Match(doc); !ok || err != nil {
			t.Errorf("%v: %v %v", doc, ok, err)
		}
	}
}

// brokenDoc is an item whose attribute "bad" cannot be read.
type brokenDoc struct{ asked *[]string }

var errBroken = errors.New("cannot be read")

func (d brokenDoc) Get(name string) (attr.Value, bool, error) {
	*d.asked = append(*d.asked, name)
	if name == "bad" {
		return attr.Value{}, false, errBroken
	}
	return attr.Int(1), true, nil
}

// TestMatchReadsLittle: only attributes that decide the result are read; an unreadable one is an error wherever it is needed.
func TestMatchReadsLittle(t *testing.T) {
	for _, c := range []struct {
		text  string
		fails bool
		reads int
	}{
		{"a = :x OR bad = :x", false, 1},
		{"a <> :x AND bad = :x", false, 1},
		{"bad = :x", true, 1},
		{"NOT bad = :x", true, 1},
		{"a = bad", true, 2},
		{"a BETWEEN :x AND bad", true, 2},
		{"a IN (:x, bad)", false, 1},
		{"a IN (b, bad)", false, 2},
		{"bad IN (:x)", true, 1},
		{"c IN (bad)", true, 2},
		{"size(bad) = :x", true, 1},
		{"bad.x[1] = :x", true, 1},
		{"attribute_not_exists(bad)", true, 1},
		{"contains(a, bad)", true, 2},
		{"a <> :x OR bad = :x", true, 2},
	} {
		cond, err := parseCondition(formCondition, c.text, one)
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		ok, err := cond.Match(brokenDoc{&asked})
		if c.fails != errors.Is(err, errBroken) || c.fails && ok || len(asked) != c.reads {
			t.Errorf("%s: %v %v, read %v", c.text, ok, err, asked)
		}
	}
}

// TestOwnWords has messages where DynamoDB Local differs from the service or its documentation.
func TestOwnWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a = :x\n=  q", "Syntax error; token: \"=\", near: \":x\n=  q\""},
		{"size = :x", "Attribute name is a reserved keyword; reserved keyword: size"},
		{"Convert = :x", "Attribute name is a reserved keyword; reserved keyword: Convert"},
		{"a.:x = :x", `Syntax error; token: ":x", near: ".:x ="`},
		{"attribute_type(a, b)", "Incorrect operand type for operator or function; operator or function: attribute_type, " +
			"operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
		{"attribute_type(a, :q)", "Invalid attribute type name found; type: Q, " +
			"valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
		{"a BETWEEN :b AND :x", "The BETWEEN operator requires same data type for lower and upper bounds; " +
			"lower bound operand: AttributeValue: {B:YQ==}, upper bound operand: AttributeValue: {N:1}"},
		{"a = :x \xff", "Syntax error; token: \"\xff\", near: \":x \xff\""},
	} {
		_, err := parseCondition(formCondition, c.text, Params{Values: attr.Item{":x": attr.Int(1), ":q": attr.S("Q"), ":b": attr.B([]byte("a"))}})
		checkError(t, c.text, err, "Invalid ConditionExpression: ", c.want)
	}
}
