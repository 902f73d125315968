package cricket

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

// drawKey draws keys as events have them, and as the words of a hostile feed could make them.
func drawKey() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string { return keyOf(oldBall, rapid.Int64Range(0, 1<<40).Draw(t, "ball")) }),
		rapid.Custom(func(t *rapid.T) string {
			return wicketKey(rapid.IntRange(1, 4).Draw(t, "innings"), rapid.IntRange(1, 10).Draw(t, "n"))
		}),
		rapid.Custom(func(t *rapid.T) string {
			return milestoneKey(50*rapid.IntRange(1, 4).Draw(t, "m"), rapid.IntRange(1, 4).Draw(t, "innings"), rapid.Int64Range(1, 1<<30).Draw(t, "who"))
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("ov:%d:%d", rapid.IntRange(1, 4).Draw(t, "innings"), rapid.IntRange(1, 120).Draw(t, "n"))
		}),
		rapid.SampledFrom([]string{"start", resultKey, "close", "corr:w:1:3", "corr:w:1:3:2", "st:Postp.", "int:12.3", "int:12.03", "brk:2:Lunch"}),
		rapid.StringN(1, 12, 40),
		rapid.StringMatching(`[a-z]{0,2}(:0*[0-9]{1,22}){0,4}`),
	)
}

// SeenKeys has exactly the keys that were added, and equal sets are packed the same.
func TestSeenKeysAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(drawKey(), 0, 60).Draw(t, "keys")
		model := map[string]bool{}
		var e SeenKeys
		for _, k := range keys {
			k = strings.ReplaceAll(k, "\x00", "")
			if k == "" {
				continue
			}
			e = e.WithKeys(k)
			model[k] = true
		}
		for k := range model {
			if !e.Has(k) {
				t.Fatalf("%q is lost", k)
			}
		}
		got := e.Keys()
		for _, k := range got {
			if !model[k] {
				t.Fatalf("%q was never added", k)
			}
		}
		if len(got) != len(model) {
			t.Fatalf("%d keys, want %d", len(got), len(model))
		}
		shuffled := slices.Clone(got)
		slices.Reverse(shuffled)
		if again := SeenKeys(nil).WithKeys(shuffled...); !slices.Equal(again, e) {
			t.Fatalf("equal sets are packed as %x and %x", e, again)
		}
		if len(got) > 0 {
			gone := e.unpack()
			gone.remove(got[0])
			if gone.pack().Has(got[0]) {
				t.Fatalf("%q was removed and is still there", got[0])
			}
		}
	})
}

// The keys of a long Test, four innings of 110 overs, take at most 1,600 bytes.
func TestSeenKeysAreSmall(t *testing.T) {
	ks := keySet{}
	id := int64(11_917_190)
	for innings := 1; innings <= 4; innings++ {
		for over := 1; over <= 110; over++ {
			ks.add(fmt.Sprintf("ov:%d:%d", innings, over))
			if over%4 == 0 {
				ks.add(maidenKey(innings, over))
			}
			for ball := range 6 {
				id += 2 + int64(over*ball%7)
				if (over*6+ball)%9 == 0 {
					ks.add(keyOf(oldBall, id))
				}
			}
		}
		for n := 1; n <= 10; n++ {
			ks.add(wicketKey(innings, n))
			ks.add(fmt.Sprintf("nb:%d:%d", innings, 20000+n*777))
			ks.add(fmt.Sprintf("p50:%d:%d", innings, n))
		}
		for n := 50; n <= 450; n += 50 {
			ks.add(fmt.Sprintf("t%d:%d", n, innings))
		}
	}
	packed, keys := ks.pack(), ks.all()
	if len(packed) > 1600 {
		t.Errorf("%d keys take %d bytes", len(keys), len(packed))
	}
	if !slices.Equal(packed.Keys(), keys) {
		t.Error("unpacking gives other keys")
	}
}

// Damaged bytes are read as far as possible: nothing panics, and packing what was read adds no keys.
func FuzzEmitted(f *testing.F) {
	f.Add([]byte(SeenKeys(nil).WithKeys("b:1003", "b:1006", "w:1:1", "w:1:2", "w:1:3", "st:Postp.")))
	f.Add([]byte{0, 255, 255, 255, 255, 15})
	f.Add([]byte{1, 255, 255, 255, 255, 15, 0, 255, 127})
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		keys := SeenKeys(raw).Keys()
		if again := SeenKeys(nil).WithKeys(keys...).Keys(); len(again) > len(keys) {
			t.Errorf("%q packed again gives %q", keys, again)
		}
		Announced(raw).facts()
	})
}
