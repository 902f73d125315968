package page

import "slices"

// Scene is one state of a page with fixed data, for the gallery.
type Scene struct {
	Name string // used in its address
	What string
	View View
	Page []byte // the whole page, without updates

	Kind string // kind of a personal page (Own) that Scenes renders from Data
	Data any
}

// Scene renders a state of a personal page (Own), without updates.
func (r *Renderer) Scene(name, what, kind string, data any) (Scene, error) {
	v, err := r.Parts(View{}, what, []Block{{ID: kind + "-page", Data: data}})
	if err != nil {
		return Scene{}, err
	}
	f := r.Own(kind, what)
	f.Module, f.Styles = "", append(f.Styles, "kit.css")
	v.Styles = f.Styles
	page, err := r.Framed(kind+"-page", data, f)
	return Scene{Name: name, What: what, View: v, Page: page}, err
}

// Scenes renders the scenes that have no Page yet.
func (r *Renderer) Scenes(all ...Scene) ([]Scene, error) {
	for i := range all {
		if s := &all[i]; s.Page == nil {
			var err error
			if *s, err = r.Scene(s.Name, s.What, s.Kind, s.Data); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
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
	return r.Framed("gallery-page", map[string]any{"Base": base, "Scenes": scenes}, Frame{Title: "Gallery", Body: "gallery", Styles: styles})
}
