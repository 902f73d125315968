package page

// CAInput is the content of the page that offers a node's CA for installation.
type CAInput struct {
	Address     string // address of the page in the local network
	Secure      string // address of the node over HTTPS, once the CA is installed
	Title       string // name of the CA as devices list it
	Fingerprint string
	Until       string
	Trusted     bool // the browser used HTTPS, so it trusts the node already
}

// CA renders the page.
func (r *Renderer) CA(in CAInput) ([]byte, error) {
	return r.RenderFramed("ca-page", in, Frame{Title: "Trust this node", Body: "ca", Styles: []string{"extra.css", "kit.css"}})
}
