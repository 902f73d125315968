package threefc

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// SignInLife is how long a session lasts.
const SignInLife = 24 * time.Hour

// hashedSession begins the id of a session, which is a hash of the secret in its cookie. The original's ids are the secrets themselves. No
// secret begins like this, so an id that was read in the table or in a backup opens nothing.
const hashedSession = "sha256-"

// maxListedSessions is how many sessions of a user are listed.
const maxListedSessions = 100

// maxEndedSessions is how many sessions one transaction ends: each has two rows.
const maxEndedSessions = 40

// SignIn is a user's session.
type SignIn struct {
	SessionID string `json:"sessionId"`
	Email     string `json:"email"`
	CreatedAt string `json:"createdAt"`
	ExpiresAt string `json:"expiresAt"`
	ByCode    bool   `json:"byCode,omitempty"`  // begun with an admin's code, not by mail
	Current   bool   `json:"current,omitempty"` // in a list: the caller's own

	codeFrom string // the admin who made the code
}

// SessionID returns the id of the session whose cookie holds a secret.
func SessionID(secret string) string { return hashedSession + hashText(secret) }

// SessionKeys returns the keys under which the row of a cookie's session may be: under its hash, or, until they expire, sessions of the
// original and of earlier versions of this program under the secret itself.
func SessionKeys(secret string) []attr.Item {
	keys := []attr.Item{SignInKey(SessionID(secret))}
	if !strings.HasPrefix(secret, hashedSession) {
		keys = append(keys, SignInKey(secret))
	}
	return keys
}

func newSecret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails: crypto/rand
	return base64.RawURLEncoding.EncodeToString(raw)
}

// sideSecrets holds this node's own secret, by which repeated requests get the same session. It is not replicated.
const sideSecrets = "threefc-secrets"

// SessionSecret returns the secret of the session of a sign-in. With an Idempotency-Key (seed) it follows from what proved the sign-in and
// from the key, so that a repeated request gets the same cookie, although the table has only a hash.
func SessionSecret(proof, seed string) string {
	if seed == "" {
		return newSecret()
	}
	return hashText(proof + "\n" + seed)
}

// MagicProof returns the proof of a link's token for SessionSecret: its secret part, of which the table has only a hash.
func MagicProof(token string) string {
	_, hidden, _ := strings.Cut(token, ".")
	return hidden
}

// CodeProof returns the proof of a code for SessionSecret, with a secret of this node: a code is so short that somebody who reads the table
// could try them all.
func CodeProof(tx *store.Tx, code string) (string, error) {
	side := tx.Side(sideSecrets)
	known, err := side.Get([]byte("code"))
	if err == nil && known == nil {
		known = []byte(newSecret())
		err = side.Set([]byte("code"), known)
	}
	return string(known) + "\n" + code, err
}

// beginSession returns the writes that create a session: its row, and the row by which its owner finds it.
func (s *Service) beginSession(secret, email, codeFrom string, now time.Time) []store.WriteItem {
	row := authRow(SignInKey(SessionID(secret)), email, now, now.Add(SignInLife))
	if codeFrom != "" {
		row["codeFrom"] = attr.S(codeFrom)
	}
	listed := authRow(userSessionKey(email, SessionID(secret)), email, now, now.Add(SignInLife))
	return []store.WriteItem{s.Create(row), s.Create(listed)}
}

// SignedIn reads the session of a cookie. It returns fault.Unauthorized if the session does not exist or has expired.
func (s *Service) SignedIn(tx *store.Tx, secret string) (*SignIn, error) {
	for _, k := range SessionKeys(secret) {
		in, err := s.session(tx, k, SessionID(secret))
		if err != nil || in != nil {
			return in, err
		}
	}
	return nil, fault.New(fault.Unauthorized, "unauthorized", "Session is missing, invalid, or expired.")
}

// session reads a session's row; nil: it does not exist or has expired.
func (s *Service) session(tx *store.Tx, k attr.Item, id string) (*SignIn, error) {
	row, err := tx.Get(s.Table, k)
	until, _ := row["expiresAtEpoch"].Int()
	if err != nil || s.Now(tx).Unix() >= until {
		return nil, err
	}
	from := row["codeFrom"].Str()
	return &SignIn{
		SessionID: id, Email: row["email"].Str(), CreatedAt: row["createdAt"].Str(), ExpiresAt: stampOf(time.Unix(until, 0)),
		ByCode: from != "", codeFrom: from,
	}, nil
}

// SignOut ends the session of a cookie. It is no error if it does not exist.
func (s *Service) SignOut(tx *store.Tx, secret string) error {
	if !IsID(secret) {
		return nil
	}
	for _, k := range SessionKeys(secret) {
		row, err := tx.Get(s.Table, k)
		if err == nil && row != nil {
			err = tx.TransactWrite(store.TransactWrite{Items: s.endSession(row["email"].Str(), k, SessionID(secret))})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endSession returns the writes that end a session.
func (s *Service) endSession(email string, k attr.Item, id string) []store.WriteItem {
	return []store.WriteItem{s.Delete(k, table.If{}), s.Delete(userSessionKey(email, id), table.If{})}
}

// SessionsOf lists a user's sessions, the newest first. Those of the original are not among them: it keeps no list.
func (s *Service) SessionsOf(tx *store.Tx, email string) (all []SignIn, err error) {
	p := s.plan(tx)
	for it := range p.Rows(tx.QueryAll(p.QueryUnder(pkUser+email, pkSession))) {
		id := strings.TrimPrefix(it["sk"].Str(), pkSession)
		in, err := s.session(tx, SignInKey(id), id)
		if err != nil {
			return nil, err
		}
		if in != nil {
			all = append(all, *in)
		}
		if len(all) == maxListedSessions {
			break
		}
	}
	slices.SortFunc(all, func(a, b SignIn) int { return strings.Compare(b.CreatedAt, a.CreatedAt) })
	return all, p.Err()
}

// EndSession ends one of a user's sessions.
func (s *Service) EndSession(tx *store.Tx, email, id string) (Change, error) {
	in, err := s.session(tx, SignInKey(id), id)
	if err == nil && (in == nil || in.Email != email) {
		err = notFound("", "There is no such session.")
	}
	return Change{Writes: s.endSession(email, SignInKey(id), id)}, err
}

// EndSessions ends a user's sessions that match, at most maxEndedSessions of them.
func (s *Service) EndSessions(tx *store.Tx, email string, match func(in *SignIn) bool) (Change, error) {
	all, err := s.SessionsOf(tx, email)
	var c Change
	for i := range all {
		if match(&all[i]) && len(c.Writes) < 2*maxEndedSessions {
			c.Writes = append(c.Writes, s.endSession(email, SignInKey(all[i].SessionID), all[i].SessionID)...)
		}
	}
	return c, err
}

// AllowSession refuses a session whose user has neither the required role in a league nor a stronger one. A session begun with a code
// counts only in leagues of the admin who made the code: they could be anybody to the rest.
func (s *Service) AllowSession(tx *store.Tx, league string, in *SignIn, role string) error {
	if err := s.Allow(tx, league, in.Email, role); err != nil || !in.ByCode {
		return err
	}
	err := s.Allow(tx, league, in.codeFrom, RoleAdmin)
	if fault.Is(err, fault.Forbidden) {
		return NeedsMail()
	}
	return err
}

// NeedsMail returns the error of a session begun with a code that asks for more than such a session may.
func NeedsMail() error {
	return fault.New(fault.Forbidden, "mail_sign_in_required",
		"You signed in with a code, which counts only in leagues of the admin who made it: sign in by mail for this.")
}
