package page

// SignInInput is what the sign-in page shows.
type SignInInput struct {
	To      string // path to go on to
	Subject string // who is signed in; empty: nobody
	Name    string // of them; empty: not known
	Admin   bool
	Session bool   // by a session of this node
	Problem string // with what was sent; empty: none was
	Out     *Link  // where who has just signed out here signs out at the issuer too; nil: nowhere
	Issuers []Link // at which people can sign in
	Codes   bool   // one-time codes are taken
	Tokens  bool   // a token can be pasted
}

// SignIn renders the page where people sign in and out.
func (r *Renderer) SignIn(in SignInInput) ([]byte, error) {
	return r.Framed("signin-page", in, Frame{Title: "Sign in", Body: "signin", Styles: []string{"extra.css"}})
}

// SessionsInput is what the page of sessions shows.
type SessionsInput struct {
	User     string
	Admin    bool // may see everybody's
	All      bool // they are everybody's
	Sessions []Session
}

// Session is one in the list. Times are texts.
type Session struct {
	ID, User, Name, Agent, Since, Until string
	ByCode, Current                     bool
}

// Sessions renders the page where sessions are seen and ended.
func (r *Renderer) Sessions(in SessionsInput, nav *Nav) ([]byte, error) {
	return r.Framed("sessions-page", in, Frame{Title: "Sessions", Body: "sessions", Styles: []string{"extra.css"}, Nav: nav})
}

// PeopleInput is what the page of people shows.
type PeopleInput struct {
	Code, For, Until string // a code that was made just now; empty: none
	People           []Person
}

// Person is one who has signed in on the node. Times are texts.
type Person struct {
	User, Issuer, Name, Email, SignedIn string
	Admin                               bool
}

// People renders the page where an admin makes codes.
func (r *Renderer) People(in PeopleInput, nav *Nav) ([]byte, error) {
	return r.Framed("people-page", in, Frame{Title: "People", Body: "people", Styles: []string{"extra.css"}, Nav: nav})
}
