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

// SessionsInput is what the page of sessions shows.
type SessionsInput struct {
	Admin    bool // may see everybody's
	All      bool // they are everybody's
	Sessions any  // a list of session.Session
}

// PeopleInput is what the page shows where an admin makes codes.
type PeopleInput struct {
	Code, For, Until string // a code that was made just now; empty: none
	People           any    // a list of session.Person
}
