package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// One-time codes. The first letters identify a code, so that wrong guesses of the rest can be counted.
const (
	alphabet   = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ" // 32, without look-alikes
	codeLength = 8
	nameLength = 3
	codeLife   = 15 * time.Minute
	codeTries  = 5
)

// Person is a person who has signed in on this node.
type Person struct {
	Subject string    `json:"userId"`
	Issuer  string    `json:"issuer"`
	Name    string    `json:"name,omitempty"`
	Email   string    `json:"email,omitempty"`
	Admin   bool      `json:"admin"`
	SeenAt  time.Time `json:"signedInAt"`
}

// personRow is a person as stored.
type personRow struct {
	who
	SignedIn int64 `dynamodbav:"signedIn"`
}

// codeRow is a code as stored.
type codeRow struct {
	ID      string `dynamodbav:"id"`
	Hash    []byte `dynamodbav:"hash"`
	Subject string `dynamodbav:"subject"`
	Issuer  string `dynamodbav:"issuer"`
	Tries   int64  `dynamodbav:"tries"` // failed attempts
	TTL     int64  `dynamodbav:"ttl"`
}

// People returns the people who have signed in here, the latest first, up to maxListed.
func (k *Keeper) People(ctx context.Context) (list []Person, err error) {
	err = k.Store.View(ctx, func(tx *store.Tx) error {
		all, err := rows(tx.ScanAll(store.Scan{Table: tablePeople}), func(p *personRow) bool { return k.Knows(p.Issuer) })
		for _, p := range all {
			list = append(list, Person{p.Subject, p.Issuer, p.Name, p.Email, p.Admin, time.Unix(p.SignedIn, 0).UTC()})
		}
		return err
	})
	slices.SortFunc(list, func(a, b Person) int { return cmp.Or(b.SeenAt.Compare(a.SeenAt), cmp.Compare(a.Subject, b.Subject)) })
	return list, err
}

// findPerson finds a person. Without an issuer, the subject must be unique among issuers.
func (k *Keeper) findPerson(tx *store.Tx, subject, issuer string) (*personRow, error) {
	found, err := rows(tx.QueryAll(store.Query{
		Table: tablePeople, KeyCondition: "subject = :s", Params: expr.Params{Values: attr.Item{":s": attr.S(subject)}},
	}), func(p *personRow) bool { return k.Knows(p.Issuer) && (issuer == "" || p.Issuer == issuer) })
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fault.New(fault.NotFound, "never_signed_in", "Nobody with that id has signed in on this node.")
	case len(found) > 1:
		return nil, fault.New(fault.Conflict, "several_issuers", "Several issuers have a person with that id: name the issuer.")
	}
	return &found[0], nil
}

// Code creates a one-time code for a person who has signed in on this node before. It is valid for 15 minutes.
func (k *Keeper) Code(ctx context.Context, subject, issuer string) (code string, until time.Time, err error) {
	if subject == "" {
		return "", until, fault.New(fault.Invalid, "no_user", "Name the person that the code is for.")
	}
	until = k.Clock.Wall().Add(codeLife).UTC().Truncate(time.Second)
	err = k.Store.Update(ctx, func(tx *store.Tx) error {
		p, err := k.findPerson(tx, subject, issuer)
		if err != nil {
			return err
		}
		for range 100 { // one of 32,768 names should be free
			code = newCode()
			have, err := k.code(tx, code[:nameLength])
			if err != nil {
				return err
			}
			if have == nil {
				return put(tx, tableCodes, codeRow{ID: code[:nameLength], Hash: hash(code), Subject: p.Subject, Issuer: p.Issuer, TTL: until.Unix()})
			}
		}
		return fault.New(fault.Unavailable, "many_codes", "Too many codes are waiting to be used.")
	})
	return code, until, err
}

func newCode() string {
	var raw [codeLength]byte
	_, _ = rand.Read(raw[:]) // never fails
	for i, b := range raw {
		raw[i] = alphabet[int(b)%len(alphabet)]
	}
	return string(raw[:])
}

// code reads a valid code; nil: there is none.
func (k *Keeper) code(tx *store.Tx, id string) (*codeRow, error) {
	return get(tx, tableCodes, id, func(c *codeRow) bool { return k.now() < c.TTL && c.Tries < codeTries })
}

// Redeem uses up a code, and returns its person as the issuer last described them. If only the end of the code is wrong, that costs one
// of its attempts.
func (k *Keeper) Redeem(ctx context.Context, text string) (id auth.Identity, err error) {
	code := plain(text)
	refused := fault.New(fault.Unauthorized, "bad_code", "That code is not valid now: ask an admin for a new one.")
	if len(code) != codeLength {
		return id, refused
	}
	var good bool
	err = k.Store.Update(ctx, func(tx *store.Tx) error {
		c, err := k.code(tx, code[:nameLength])
		if err != nil || c == nil {
			return err
		}
		if subtle.ConstantTimeCompare(hash(code), c.Hash) != 1 {
			c.Tries++
			return put(tx, tableCodes, c)
		}
		p, err := k.findPerson(tx, c.Subject, c.Issuer)
		if fault.Is(err, fault.NotFound) {
			return nil // its issuer is no longer accepted
		}
		if err != nil {
			return err
		}
		good, id = true, p.identity()
		return drop(tx, tableCodes, c.ID) // write transactions are serial, so a code works once
	})
	if err == nil && !good {
		err = refused
	}
	return id, err
}

// plain normalizes a code as typed: upper case, without separators.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(alphabet, r) {
			return r
		}
		return -1
	}, strings.ToUpper(text[:min(len(text), 64)]))
}
