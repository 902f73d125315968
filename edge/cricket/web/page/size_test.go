package page

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/touchline/touchline/httpapi/page"
)

var asset = regexp.MustCompile(`/_/assets/[0-9a-f]+/([a-z0-9.-]+)`)

// TestFirstLoad loads every page as a browser does for the first time: it is small, even at the end of a long Test.
func TestFirstLoad(t *testing.T) {
	scenes, err := Scenes()
	if err != nil {
		t.Fatal(err)
	}
	r, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	scenes = append(scenes, Scene{Name: "longest", Match: longestTest(t, scenes)})
	for i := range scenes {
		body, err := wholeScene(r, &scenes[i])
		if err != nil {
			t.Fatal(err)
		}
		if scenes[i].Match != nil || scenes[i].List != nil { // with the script, as served
			v, err := r.scene(&scenes[i])
			if err != nil {
				t.Fatal(err)
			}
			if body, err = r.Page(v, page.Frame{Stream: "/_/stream?app=cricket&page=1"}); err != nil {
				t.Fatal(err)
			}
		}
		total, seen := len(body), map[string]bool{}
		for _, m := range asset.FindAllSubmatch(body, -1) {
			a, ok := r.Asset(string(m[1]))
			if !ok {
				t.Fatalf("%s: there is no %s", scenes[i].Name, m[1])
			}
			if !seen[string(m[1])] {
				total += len(a.Body)
			}
			seen[string(m[1])] = true
		}
		if total > 150_000 {
			t.Errorf("%s: the first load is %d bytes", scenes[i].Name, total)
		}
		t.Logf("%s: %d bytes, of them %d of the page", scenes[i].Name, total, len(body))
	}
}

// longestTest returns a Test of four innings of 150 overs.
func longestTest(t *testing.T, scenes []Scene) *Input {
	t.Helper()
	i := slices.IndexFunc(scenes, func(s Scene) bool { return s.Name == "test" })
	in := *scenes[i].Match
	in.Card.Innings = slices.Clone(in.Card.Innings)
	in.Display.Innings = slices.Clone(in.Display.Innings)
	for n := len(in.Card.Innings); n < 4; n++ {
		card, line := in.Card.Innings[n-2], in.Display.Innings[n-2]
		card.No, line.No = n+1, n+1
		in.Card.Innings, in.Display.Innings = append(in.Card.Innings, card), append(in.Display.Innings, line)
	}
	for n := range in.Card.Innings {
		c := &in.Card.Innings[n]
		c.Overs = slices.Clone(c.Overs)
		for k := len(c.Overs); k < 150; k++ {
			over := c.Overs[k%10]
			over.No = k + 1
			c.Overs = append(c.Overs, over)
		}
		in.Display.Innings[n].Overs = "150.0"
		for len(c.Batting) < 11 {
			c.Batting = append(c.Batting, c.Batting[0])
		}
	}
	in.Events = slices.Clone(in.Events)
	for n := 0; len(in.Events) < 400; n++ {
		e := in.Events[n]
		e.Key = fmt.Sprintf("again:%d", n)
		in.Events = append(in.Events, e)
	}
	return &in
}

func wholeScene(r *Renderer, s *Scene) ([]byte, error) {
	v, err := r.scene(s)
	if err != nil {
		return nil, err
	}
	return r.sceneAlone(v)
}
