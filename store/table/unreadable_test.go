package table_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// A list leaves out a row that cannot be decoded; a plan that needs the row itself fails, without its key. In both cases the row is noted.
func TestUnreadableRow(t *testing.T) {
	s := open(t)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		p := rows.Plan(tx)
		p.Commit(rows.Create(row("1", "on")), rows.Create(row("secret", "odd")), rows.Create(row("3", "off")))
		got := table.Decode(&p, tx.QueryAll(rows.QueryUnder("a", "")), func(it attr.Item) (string, error) {
			if it["state"].Str() == "odd" {
				return "", errors.New("attribute state is odd")
			}
			return it["state"].Str(), nil
		})
		if strings.Join(got, " ") != "on off" || p.Err() != nil || tx.Unreadable() != 1 {
			t.Errorf("%q, %v, %d", got, p.Err(), tx.Unreadable())
		}
		p.Unreadable("switch", row("secret", "odd"), errors.New("attribute state is odd"))
		if err := p.Err(); !table.IsUnreadable(err) || !strings.Contains(err.Error(), "The stored switch cannot be read") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	all, _, err := s.UnreadableItems(t.Context())
	if err != nil || len(all) != 1 || all[0].Key["sk"].Str() != "secret" {
		t.Errorf("%v, %v", all, err)
	}
	if table.IsUnreadable(fault.New(fault.Damaged, "x", "damaged on disk")) {
		t.Error("a damaged item counts as unreadable")
	}
}

// The reasons are in words for people.
func TestReasons(t *testing.T) {
	var into struct {
		Name   string
		Number int
		Ratio  float64
		On     bool
		List   []struct{ Name string }
		In     struct{ Name *string }
	}
	for data, want := range map[string]string{
		`{"Name":5}`:              "member Name of attribute data is a number, where a text belongs",
		`{"Number":"5"}`:          "member Number of attribute data is a text, where a whole number belongs",
		`{"Number":5.5}`:          "member Number of attribute data is the number 5.5, where a whole number belongs",
		`{"Ratio":true}`:          "member Ratio of attribute data is yes or no, where a number belongs",
		`{"On":[]}`:               "member On of attribute data is a list, where yes or no belongs",
		`{"List":{}}`:             "member List of attribute data is an object, where a list belongs",
		`{"In":{"Name":5}}`:       "member In.Name of attribute data is a number, where a text belongs",
		`{"Name":"a"`:             "attribute data is not JSON",
		`null`:                    "attribute data is not a JSON object",
		``:                        "attribute data is not a JSON object",
		`{"Name":"a","Other":[]}`: "",
	} {
		err := table.JSON(attr.Item{"data": attr.S(data)}, "data", &into)
		if got := text(err); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
	if got := text(table.JSON(attr.Item{}, "data", &into)); got != "attribute data is missing" {
		t.Error(got)
	}
	if got := text(table.JSON(attr.Item{"data": attr.Int(1)}, "data", &into)); got != "attribute data is not a text" {
		t.Error(got)
	}
	if got := text(table.Unmarshal(attr.Item{"Number": attr.S("x")}, &into)); got != "attribute Number: it is a text, where a whole number belongs" {
		t.Error(got)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
