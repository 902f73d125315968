package threefc

import (
	"cmp"
	"crypto/subtle"
	"net/mail"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Lifetimes of sign-in tokens and codes.
const (
	magicLife = 15 * time.Minute
	codeLife  = 15 * time.Minute
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
	id, hidden := (&IDs{}).New(now), newSecret()
	row := authRow(MagicKey(id), email, now, now.Add(magicLife))
	row["tokenHash"] = attr.S(hashText(hidden))
	_, err = tx.Put(*s.Create(row).Put)
	return Magic{MessageID: id, Token: id + "." + hidden, ExpiresAt: stampOf(now.Add(magicLife))}, err
}

func badMagic() error {
	return fault.New(fault.Unauthorized, "invalid_or_expired_magic_link", "Invalid or expired magic link.")
}

// CompleteMagic signs in the holder of a token, with the secret that the session's cookie will have. Bad, used and expired tokens get the
// same error.
func (s *Service) CompleteMagic(tx *store.Tx, token, secret string) (Change, error) {
	id, hidden, ok := strings.Cut(token, ".")
	if !ok || !IsID(id) {
		return Change{}, badMagic()
	}
	row, err := tx.Get(s.Table, MagicKey(id))
	hash := hashText(hidden)
	if err != nil || subtle.ConstantTimeCompare([]byte(row["tokenHash"].Str()), []byte(hash)) != 1 {
		return Change{}, cmp.Or(err, badMagic())
	}
	return s.signIn(tx, MagicKey(id), row, secret, "tokenHash = :h AND ", attr.Item{":h": attr.S(hash)})
}

// signIn uses up a token or code by one conditional update, and creates the session in the same transaction.
func (s *Service) signIn(tx *store.Tx, from, row attr.Item, secret, condition string, values attr.Item) (Change, error) {
	now, email := s.Now(tx), row["email"].Str()
	if until, _ := row["expiresAtEpoch"].Int(); row["usedAt"].Str() != "" || until < now.Unix() {
		return Change{}, badMagic()
	}
	values[":now"], values[":at"] = attr.Int(now.Unix()), attr.S(stampOf(now))
	unused := table.IfTrue(condition+"attribute_not_exists(usedAt) AND expiresAtEpoch >= :now", values)
	writes := []store.WriteItem{s.Update(from, "SET usedAt = :at, updatedAt = :at", unused)}
	writes = append(writes, s.beginSession(secret, email, row["codeFrom"].Str(), now)...)
	err := tx.Side(sideSignedIn).Set([]byte(hashText(email)), []byte(stampOf(now)))
	return Change{IDs: map[string]string{"session": SessionID(secret)}, Writes: writes}, err
}

// CodeFor creates a single-use sign-in code for an address that has signed in on this node before and has accepted a role in the league,
// for a ground without mail. Its session counts only in leagues of the admin who asked for it.
func (s *Service) CodeFor(tx *store.Tx, league, by, email string) (code, expiresAt string, err error) {
	p := s.plan(tx)
	has := optional[Access](p, aclKey(league, email))
	p.Refuse(has == nil, notFound("", "This email address has no role in this league: grant it access first."))
	p.Refuse(has != nil && !has.counts(), conflict("role_not_accepted",
		"The owner of this email address has not accepted their role in this league: they accept it after signing in by mail."))
	known, err := tx.Side(sideSignedIn).Get([]byte(hashText(email))) // asked last: who signs in here is told to nobody without a role of theirs
	p.Fail(err)
	p.Refuse(known == nil, notFound("", "Nobody has signed in on this node with this email address."))
	if p.Err() != nil {
		return "", "", p.Err()
	}
	now := s.Now(tx)
	code = newCode()
	row := authRow(codeKey(code), email, now, now.Add(codeLife))
	row["codeFrom"] = attr.S(by)
	_, err = tx.Put(*s.Create(row).Put)
	return code, stampOf(now.Add(codeLife)), err
}

// CompleteCode signs in the holder of an address's code, with the secret that the session's cookie will have.
func (s *Service) CompleteCode(tx *store.Tx, email, text, secret string) (Change, error) {
	code, ok := CodeOf(text)
	if !ok {
		return Change{}, badMagic()
	}
	row, err := tx.Get(s.Table, codeKey(code))
	if err != nil || row["email"].Str() != email {
		return Change{}, cmp.Or(err, badMagic())
	}
	return s.signIn(tx, codeKey(code), row, secret, "email = :email AND ", attr.Item{":email": attr.S(email)})
}
