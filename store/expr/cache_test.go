package expr

import (
	"fmt"
	"sync"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

func TestCacheKeepsParsedForms(t *testing.T) {
	c := NewCache(10)
	first, err := c.parse(grammarCondition, "a = :x", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.parse(grammarCondition, "a = :x", false, nil); again != first {
		t.Error("the same text was parsed twice")
	}
	// The same text in two grammars.
	if _, err := c.parse(grammarUpdate, "a = :x", false, nil); err == nil {
		t.Error("a condition was taken for an update")
	}
	if c.Len() != 1 {
		t.Errorf("%d texts, want 1: refused ones are not kept", c.Len())
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := NewCache(8)
	for i := range 100 {
		text := fmt.Sprintf("a%d = :x", i)
		if _, err := c.Bind(Request{Condition: text, Params: one}); err != nil {
			t.Fatal(err)
		}
		if c.Len() > 8 {
			t.Fatalf("%d texts", c.Len())
		}
		if c.find(cacheKey{grammarCondition, text, false}) == nil {
			t.Errorf("%s was not kept", text)
		}
	}
	if c.find(cacheKey{grammarCondition, "a5 = :x", false}) != nil {
		t.Error("an old text was kept")
	}
}

func TestCacheOfNothing(t *testing.T) {
	for name, c := range map[string]*Cache{"nil": nil, "zero": NewCache(0), "less": NewCache(-3)} {
		b, err := c.Bind(Request{Condition: "a = :x", Params: one})
		if err != nil {
			t.Fatal(name, err)
		}
		if ok, _ := b.Condition.Match(Item{"a": attr.Int(1)}); !ok || c.Len() != 0 {
			t.Error(name, ok, c.Len())
		}
	}
}

// TestCacheShared: requests with the same text and different parameters do not affect each other.
func TestCacheShared(t *testing.T) {
	c := NewCache(3)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				n := int64(i*1000 + j)
				b, err := c.Bind(Request{Condition: fmt.Sprintf("#n = :v%d", j%5), Params: Params{
					Names:  map[string]string{"#n": fmt.Sprintf("a%d", i)},
					Values: attr.Item{fmt.Sprintf(":v%d", j%5): attr.Int(n)},
				}})
				if err != nil {
					t.Error(err)
					return
				}
				if ok, err := b.Condition.Match(Item{fmt.Sprintf("a%d", i): attr.Int(n)}); !ok || err != nil {
					t.Error("another request's parameters", ok, err)
				}
			}
		})
	}
	wg.Wait()
}
