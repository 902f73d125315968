package page

// SignInInput is the content of the sign-in page.
type SignInInput struct {
	To      string // path to continue to
	Subject string // the signed-in user; empty: nobody
	Name    string // the user's name; empty: not known
	Admin   bool
	Session bool   // signed in by a session of this node
	Problem string // why the last attempt failed; empty: no failure
	Out     *Link  // link to sign out at the issuer too; nil: none
	Issuers []Link // links to sign in at issuers
	Codes   bool   // one-time codes are accepted
	Tokens  bool   // pasted tokens are accepted
}

// SessionsInput is the content of the page of sessions.
type SessionsInput struct {
	Admin    bool // the reader may see everybody's sessions
	All      bool // Sessions are everybody's
	Sessions any  // a list of session.Session
}

// PeopleInput is the content of the page where an admin creates codes.
type PeopleInput struct {
	Code, For, Until string // a code just created; empty: none
	People           any    // a list of session.Person
}
