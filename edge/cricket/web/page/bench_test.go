package page

import (
	"testing"

	"github.com/touchline/touchline/httpapi/page"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMatch renders all parts of the match page: the cost of a ball, however many people watch.
func BenchmarkMatch(b *testing.B) {
	r, err := New("")
	if err != nil {
		b.Fatal(err)
	}
	scenes, err := Scenes()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"chase", "test"} {
		for i := range scenes {
			if scenes[i].Name != name {
				continue
			}
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Match(*scenes[i].Match, page.View{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/unchanged", func(b *testing.B) {
				b.ReportAllocs()
				var last page.View
				for b.Loop() {
					if last, err = r.Match(*scenes[i].Match, last); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
