package threefc

import (
	_ "embed" // the scenes
	"encoding/json"
	"fmt"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/page"
)

//go:embed scenes/scenes.json
var scenesFile []byte

// scenes renders the pages in each state from fixed data: a game's page, or the scorer's page if the scene has waiting entries.
func (a *api) scenes() ([]page.Scene, error) {
	var file struct {
		Roster threefc.Roster
		Scenes []struct {
			Name, What string
			Now        time.Time
			Board      threefc.Board
			Goals      []threefc.Line
			Waiting    *page.WaitingLine
		}
	}
	if err := json.Unmarshal(scenesFile, &file); err != nil {
		return nil, fmt.Errorf("read the scenes: %w", err)
	}
	out := make([]page.Scene, len(file.Scenes))
	for i := range out {
		s := &file.Scenes[i]
		g := &shownGame{Board: &s.Board, Title: "Spring", Lines: s.Goals, Clock: clockOf(&s.Board.Game, s.Now, 0)}
		if s.Board.FinishedAt != nil {
			s.Board.Result = threefc.ResultOf(s.Board.Teams, *s.Board.FinishedAt)
		}
		scene := &out[i]
		scene.Name, scene.What = s.Name, s.What
		if s.Waiting != nil {
			scene.Kind, scene.Data = "scorer", &ownPage{shownGame: g, Roster: file.Roster, Waiting: s.Waiting}
			continue
		}
		var err error
		if scene.View, err = a.gameView(page.View{}, g); err != nil {
			return nil, err
		}
		scene.View.Module, scene.View.Styles = "", append(styles(), "kit.css")
		if scene.Page, err = a.look.Page(scene.View, page.Frame{}); err != nil {
			return nil, err
		}
	}
	return a.look.Scenes(out...)
}
