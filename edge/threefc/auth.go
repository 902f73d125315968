package threefc

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Lifetimes of sign-in tokens, codes and sessions.
const (
	magicLife  = 15 * time.Minute
	codeLife   = 15 * time.Minute
	SignInLife = 24 * time.Hour
)

// sideSignedIn holds hashes of the addresses that have signed in on this node. It is not replicated.
const sideSignedIn = "threefc-signed-in"

// maxEmail is the maximum length of an address.
const maxEmail = 254

// Email validates an address and returns it trimmed and in lower case.
func Email(text string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(text))
	a, err := mail.ParseAddress(email)
	bad := strings.ContainsFunc(email, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>\,;#`, r) })
	if err != nil || a.Address != email || a.Name != "" || len(email) > maxEmail || bad {
		return "", fault.New(fault.Invalid, "invalid_email", "Field `email` must be a valid email address.")
	}
	return email, nil
}

// SignIn is a user's session.
type SignIn struct {
	SessionID string `json:"sessionId"`
	Email     string `json:"email"`
	CreatedAt string `json:"createdAt"`
	ExpiresAt string `json:"expiresAt"`
}

func secret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails: crypto/rand
	return base64.RawURLEncoding.EncodeToString(raw)
}

// authRow returns a token, code or session row. Its members are plain attributes, without a data member.
func authRow(k attr.Item, email string, now, until time.Time) attr.Item {
	k["entityType"], k["email"] = attr.S(entityOf(k)), attr.S(email)
	k["createdAt"], k["updatedAt"] = attr.S(stampOf(now)), attr.S(stampOf(now))
	k["expiresAtEpoch"], k[AttrTTL] = attr.Int(until.Unix()), attr.Int(until.Unix())
	return k
}

// Magic is a magic link. Its token is only in the mail; the table stores a hash of the secret.
type Magic struct {
	MessageID string // the token's id, without its secret
	Token     string
	ExpiresAt string
}

// StartMagic creates a single-use token that signs an address in.
func (s *Service) StartMagic(tx *store.Tx, email string) (m Magic, err error) {
	now := s.Now(tx)
	id, hidden := (&IDs{}).New(now), secret()
	row := authRow(MagicKey(id), email, now, now.Add(magicLife))
	row["tokenHash"] = attr.S(hashText(hidden))
	_, err = tx.Put(*s.Create(row).Put)
	return Magic{MessageID: id, Token: id + "." + hidden, ExpiresAt: stampOf(now.Add(magicLife))}, err
}

func badMagic() error {
	return fault.New(fault.Unauthorized, "invalid_or_expired_magic_link", "Invalid or expired magic link.")
}

// CompleteMagic signs in the holder of a token. Bad, used and expired tokens get the same error. Repeated requests with one
// Idempotency-Key get the same session at every node, because its id is derived from the token's secret.
func (s *Service) CompleteMagic(tx *store.Tx, token string, ids *IDs) (Change, error) {
	id, hidden, ok := strings.Cut(token, ".")
	if !ok || !IsID(id) {
		return Change{}, badMagic()
	}
	row, err := tx.Get(s.Table, MagicKey(id))
	hash := hashText(hidden)
	if err != nil || subtle.ConstantTimeCompare([]byte(row["tokenHash"].Str()), []byte(hash)) != 1 {
		return Change{}, cmp.Or(err, badMagic())
	}
	session := secret()
	if ids.Seed != "" {
		session = hashText(hidden + "\n" + ids.Seed)
	}
	return s.signIn(tx, MagicKey(id), row, session, "tokenHash = :h AND ", attr.Item{":h": attr.S(hash)})
}

// signIn uses up a token or code by one conditional update, and creates the session in the same transaction.
func (s *Service) signIn(tx *store.Tx, from, row attr.Item, session, condition string, values attr.Item) (Change, error) {
	now, email := s.Now(tx), row["email"].Str()
	if until, _ := row["expiresAtEpoch"].Int(); row["usedAt"].Str() != "" || until < now.Unix() {
		return Change{}, badMagic()
	}
	values[":now"], values[":at"] = attr.Int(now.Unix()), attr.S(stampOf(now))
	unused := table.When(condition+"attribute_not_exists(usedAt) AND expiresAtEpoch >= :now", values)
	made := authRow(SignInKey(session), email, now, now.Add(SignInLife))
	err := tx.Side(sideSignedIn).Set([]byte(hashText(email)), []byte(stampOf(now)))
	return Change{IDs: map[string]string{"session": session}, Writes: []store.WriteItem{
		s.Update(from, "SET usedAt = :at, updatedAt = :at", unused), s.Create(made),
	}}, err
}

// SignedIn reads a session. It returns fault.Unauthorized if the session does not exist or has expired.
func (s *Service) SignedIn(tx *store.Tx, session string) (*SignIn, error) {
	row, err := tx.Get(s.Table, SignInKey(session))
	until, _ := row["expiresAtEpoch"].Int()
	if err == nil && s.Now(tx).Unix() >= until {
		err = fault.New(fault.Unauthorized, "unauthorized", "Session is missing, invalid, or expired.")
	}
	return &SignIn{
		SessionID: session, Email: row["email"].Str(), CreatedAt: row["createdAt"].Str(), ExpiresAt: stampOf(time.Unix(until, 0)),
	}, err
}

// SignOut ends a session. It is no error if the session does not exist.
func (s *Service) SignOut(tx *store.Tx, session string) error {
	if !IsID(session) {
		return nil
	}
	_, err := tx.Delete(store.DeleteItem{Table: s.Table, Key: SignInKey(session), NoOld: true})
	return err
}

// CodeFor creates a single-use sign-in code for an address that has signed in on this node before, for a ground without mail. The code
// gives access to all leagues of the address, so the requester must be an admin of each of them.
func (s *Service) CodeFor(tx *store.Tx, league, by, email string) (code, expiresAt string, err error) {
	p := s.plan(tx)
	known, err := tx.Side(sideSignedIn).Get([]byte(hashText(email)))
	p.Fail(err)
	p.Refuse(known == nil, notFound("", "Nobody has signed in on this node with this email address."))
	leagues := many(p, s.LeaguesOf, email)
	p.Refuse(!slices.ContainsFunc(leagues, func(l OwnLeague) bool { return l.LeagueID == league }), notFound("", "This email address has no role in this league: grant it access first."))
	for i := range leagues {
		p.Fail(s.Allow(tx, leagues[i].LeagueID, by, RoleAdmin))
	}
	if p.Err() != nil {
		return "", "", p.Err()
	}
	now := s.Now(tx)
	code = newCode()
	_, err = tx.Put(*s.Create(authRow(codeKey(code), email, now, now.Add(codeLife))).Put)
	return code, stampOf(now.Add(codeLife)), err
}

// CompleteCode signs in the holder of an address's code.
func (s *Service) CompleteCode(tx *store.Tx, email, text string) (Change, error) {
	code, ok := CodeOf(text)
	if !ok {
		return Change{}, badMagic()
	}
	row, err := tx.Get(s.Table, codeKey(code))
	if err != nil || row["email"].Str() != email {
		return Change{}, cmp.Or(err, badMagic())
	}
	return s.signIn(tx, codeKey(code), row, secret(), "email = :email AND ", attr.Item{":email": attr.S(email)})
}

// Mail is an email message.
type Mail struct {
	To, Subject, Text string
	Until             time.Time // not sent afterwards; zero: no limit
}

// Mail returns the message that carries the link with the token.
func (m *Magic) Mail(to, link string) Mail {
	return Mail{To: to, Subject: "Your 3FC sign-in link", Until: parseTime(m.ExpiresAt), Text: fmt.Sprintf(
		"Open this link to sign in to 3FC. It works once, for %d minutes:\n\n%s\n\nIf you did not ask for it, ignore this message.\n", int(magicLife.Minutes()), link)}
}
