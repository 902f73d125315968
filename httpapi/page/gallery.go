package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Scene is one state of a page with fixed data, for the gallery.
type Scene struct {
	Name string // used in its address
	What string
	View View
	Page []byte // the whole page, without updates
}

// Scenes renders the states of pages in the application's scenes.json, with "common" members of all data:
//
//	{"common": {}, "scenes": [{"name": "draw", "what": "A draw", "kind": "game", "data": {}}]}
//
// read returns the data of a personal page (Own) of a kind, or the View of another page. decode stores the common members in into, and
// then those of the scene.
func (r *Renderer) Scenes(read func(kind string, decode func(into any) error) (any, error)) ([]Scene, error) {
	var file struct {
		Common json.RawMessage
		Scenes []struct {
			Name, What, Kind string
			Data             json.RawMessage
		}
	}
	raw, err := fs.ReadFile(r.files, "scenes.json")
	if err = errors.Join(err, json.Unmarshal(raw, &file)); err != nil {
		return nil, fmt.Errorf("read the scenes: %w", err)
	}
	all := make([]Scene, len(file.Scenes))
	for i, s := range file.Scenes {
		data, err := read(s.Kind, func(into any) error {
			return errors.Join(json.Unmarshal(file.Common, into), json.Unmarshal(s.Data, into))
		})
		all[i] = Scene{Name: s.Name, What: s.What}
		if err = errors.Join(err, r.fill(&all[i], s.Kind, data)); err != nil {
			return nil, fmt.Errorf("scene %s: %w", s.Name, err)
		}
	}
	return all, nil
}

// fill renders the page of a scene.
func (r *Renderer) fill(s *Scene, kind string, data any) (err error) {
	var is bool
	if s.View, is = data.(View); is {
		s.View.Module, s.View.Styles = "", append(s.View.Styles, "kit.css")
		s.Page, err = r.Page(s.View, Frame{})
		return err
	}
	if s.View, err = r.Parts(View{}, s.What, []Block{{ID: kind + "-page", Data: data}}); err != nil {
		return err
	}
	f := r.OwnFrame(kind, s.What)
	f.Module, f.Styles = "", append(f.Styles, "kit.css")
	s.View.Styles = f.Styles
	s.Page, err = r.RenderFramed(kind+"-page", data, f)
	return err
}

// Gallery renders one page with every part in every state. base is the prefix of its addresses.
func (r *Renderer) Gallery(base string, scenes []Scene) ([]byte, error) {
	styles := []string{"extra.css"}
	for i := range scenes {
		for _, s := range scenes[i].View.Styles {
			if !slices.Contains(styles, s) {
				styles = append(styles, s)
			}
		}
	}
	return r.RenderFramed("gallery-page", map[string]any{"Base": base, "Scenes": scenes}, Frame{Title: "Gallery", Body: "gallery", Styles: styles})
}
