package page

// CAInput is what the page that hands out a node's CA shows.
type CAInput struct {
	Address     string // of the page in the local network
	Secure      string // where the node is trusted once that is done
	Title       string // of the CA, as devices list it
	Fingerprint string
	Until       string
	Trusted     bool // the browser came by HTTPS: it trusts the node already
}

// caPage is what its template reads.
type caPage struct {
	CAInput
	Code Figure
}

// CA renders that page.
func (r *Renderer) CA(in CAInput) ([]byte, error) {
	code, err := QR(in.Address, in.Address)
	if err != nil {
		return nil, err
	}
	return r.Framed("ca-page", caPage{in, code}, Frame{Title: "Trust this node", Body: "ca", Styles: []string{"extra.css", "kit.css"}})
}
