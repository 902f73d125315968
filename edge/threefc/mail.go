package threefc

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Mail is an email message.
type Mail struct {
	To, Subject, Text string
	Until             time.Time // not sent afterwards; zero: no limit

	SignIn bool   // carries a link to sign in with, else it is a user's doing
	Client string // address of the client that causes it
	League string // in whose name it is sent; empty: nobody's
}

// Mail returns the message that carries the link with the token.
func (m *Magic) Mail(to, link, client string) Mail {
	return Mail{To: to, Subject: "Your 3FC sign-in link", Until: parseTime(m.ExpiresAt), SignIn: true, Client: client, Text: fmt.Sprintf(
		"Open this link to sign in to 3FC. It works once, for %d minutes:\n\n%s\n\nIf you did not ask for it, ignore this message.\n", int(magicLife.Minutes()), link)}
}

// InviteMail returns the message that carries an invite link.
func InviteMail(to string, l *League, link, client string) Mail {
	return Mail{To: to, Subject: "An invitation to organise a 3FC league", Client: client, League: l.LeagueID, Text: fmt.Sprintf(
		"You are invited to organise the league \"%s\" on 3FC. Open this link and sign in with this email address:\n\n%s\n", inMail(l.Name), link)}
}

// maxInMail is how many characters of a user's text a message contains.
const maxInMail = 60

// What mail programs find addresses by: characters that begin one, and the dots between the parts of a name.
const (
	linkMarks = `:/\@"<>`
	nameDots  = ".\u3002\uff0e\uff61\u2024\ufe52"
)

// inMail returns a user's text for a message to others: short, in one line, and without anything that mail programs show as a link, so that
// nobody can send a text of their own in this node's name.
func inMail(text string) string {
	shown := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), strings.ContainsRune(linkMarks, r):
			return ' '
		case !unicode.IsPrint(r): // could hide a dot
			return -1
		}
		return r
	}, text)
	var out []rune
	for _, r := range strings.Join(strings.Fields(shown), " ") {
		if n := len(out) - 1; n >= 0 && strings.ContainsRune(nameDots, out[n]) && r != ' ' {
			out[n] = ' '
		}
		out = append(out, r)
	}
	if len(out) > maxInMail {
		out = append(out[:maxInMail-1], '…')
	}
	return strings.TrimSpace(string(out))
}
