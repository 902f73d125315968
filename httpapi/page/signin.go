package page

// SignInInput is what the sign-in page shows.
type SignInInput struct {
	To      string // path to go on to
	Subject string // who is signed in; empty: nobody
	Admin   bool
	Problem string // with the token that was sent; empty: none was
}

// SignIn renders the page where a token can be pasted.
func (r *Renderer) SignIn(in SignInInput) ([]byte, error) {
	return r.Framed("signin-page", in, Frame{Title: "Sign in", Body: "signin", Styles: []string{"extra.css"}})
}
