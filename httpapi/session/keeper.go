package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

const (
	rotateEvery = time.Hour        // of use, at most; more often where sessions end sooner
	grace       = time.Minute      // for requests that were on their way with the old secret, and answers with the next one
	lookAgain   = 15 * time.Minute // what began with a session, as a stream, asks again after this time
	maxSessions = 20               // of one person
	maxListed   = 1000             // sessions and people on a page
	maxAgent    = 120              // bytes of a browser's name
)

// Config is what a Keeper works with. All of it is needed.
type Config struct {
	Store *store.Store
	Clock clock.Clock              // real time
	Idle  time.Duration            // after which a session that is not used ends
	Life  time.Duration            // after which every session ends
	Knows func(issuer string) bool // whether an issuer's people are still welcome
	Log   *slog.Logger
}

// Keeper keeps sessions, people and codes. Its methods may be called at once.
type Keeper struct{ Config }

// New makes a Keeper. It does no I/O.
func New(c Config) *Keeper { return &Keeper{c} }

// Session is a session for those who may see it.
type Session struct {
	ID        string    `json:"id"`
	Subject   string    `json:"userId"`
	Issuer    string    `json:"issuer"`
	Name      string    `json:"name,omitempty"`
	Admin     bool      `json:"admin"`
	Agent     string    `json:"agent"` // the browser, in its own words
	ByCode    bool      `json:"byCode"`
	CreatedAt time.Time `json:"createdAt"`
	SeenAt    time.Time `json:"seenAt"` // to the hour
	ExpiresAt time.Time `json:"expiresAt"`
	Current   bool      `json:"current"` // of the request that asks
}

// row is a session as it is stored.
type row struct {
	ID     string `dynamodbav:"id"`
	Person string `dynamodbav:"person"`
	who
	ByCode  bool   `dynamodbav:"byCode"`
	Agent   string `dynamodbav:"agent"`
	Secret  []byte `dynamodbav:"secret"`         // SHA-256
	Next    []byte `dynamodbav:"next,omitempty"` // the same, of the secret that was sent but not yet shown
	NextAt  int64  `dynamodbav:"nextAt"`         // epoch seconds, as all times here
	Old     []byte `dynamodbav:"old,omitempty"`  // oldKept hashes that were current, the last one last
	Rotated int64  `dynamodbav:"rotated"`        // when Secret became current
	Created int64  `dynamodbav:"created"`
	TTL     int64  `dynamodbav:"ttl"`
}

// who is a person as the issuer has described them when they signed in.
type who struct {
	Subject string   `dynamodbav:"subject"`
	Issuer  string   `dynamodbav:"issuer"`
	Groups  []string `dynamodbav:"groups,omitempty"`
	Admin   bool     `dynamodbav:"admin"`
	Name    string   `dynamodbav:"name,omitempty"`
	Email   string   `dynamodbav:"email,omitempty"`
}

func whoIs(id auth.Identity) who {
	return who{Subject: id.Subject, Issuer: id.Issuer, Groups: id.Groups, Admin: id.Admin, Name: id.Name, Email: id.Email}
}

func (w *who) identity() auth.Identity {
	return auth.Identity{Subject: w.Subject, Issuer: w.Issuer, Groups: w.Groups, Admin: w.Admin, Name: w.Name, Email: w.Email}
}

// person names somebody: a subject is its issuer's.
func person(issuer, subject string) string { return issuer + " " + subject }

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func (k *Keeper) now() int64 { return k.Clock.Now().Unix() }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// ends is when a session ends if it is not used any more.
func (k *Keeper) ends(r *row) int64 { return min(r.Created+seconds(k.Life), r.Rotated+seconds(k.Idle)) }

// save writes a session.
func (k *Keeper) save(tx *store.Tx, r *row) error {
	r.TTL = k.ends(r)
	return put(tx, tableSessions, r)
}

// put writes a row.
func put(tx *store.Tx, table string, row any) error {
	item, err := attr.Marshal(row)
	if err == nil {
		_, err = tx.Put(store.PutItem{Table: table, Item: item, NoOld: true})
	}
	return err
}

// get reads a row that counts; nil: there is none. One that another version wrote is as good as none, here and in rows.
func get[T any](tx *store.Tx, table, id string, counts func(*T) bool) (*T, error) {
	item, err := tx.Get(table, attr.Item{"id": attr.S(id)})
	var one T
	if err != nil || item == nil || attr.Unmarshal(item, &one) != nil || !counts(&one) {
		return nil, err
	}
	return &one, nil
}

// rows are those that count, as many as fit a page.
func rows[T any](items iter.Seq2[attr.Item, error], counts func(*T) bool) (all []T, err error) {
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		var one T
		if attr.Unmarshal(item, &one) != nil || !counts(&one) {
			continue
		}
		if all = append(all, one); len(all) == maxListed {
			break
		}
	}
	return all, nil
}

// lives reports whether a session has not ended.
func (k *Keeper) lives(r *row) bool { return k.now() < k.ends(r) && k.Knows(r.Issuer) }

// get reads a session that has not ended; nil: there is none.
func (k *Keeper) get(tx *store.Tx, id string) (*row, error) {
	return get(tx, tableSessions, id, k.lives)
}

func drop(tx *store.Tx, table, id string) error {
	_, err := tx.Delete(store.DeleteItem{Table: table, Key: attr.Item{"id": attr.S(id)}})
	return err
}

// Begin begins a session of somebody who has just signed in, and returns what the browser keeps. byCode says that it was one of
// our codes, not the issuer. The least used of too many sessions ends.
func (k *Keeper) Begin(ctx context.Context, id auth.Identity, agent string, byCode bool) (cookie string, err error) {
	secret, now := rand.Text(), k.now()
	r := &row{
		ID: rand.Text()[:16], Person: person(id.Issuer, id.Subject), who: whoIs(id), ByCode: byCode, Agent: short(agent),
		Secret: hash(secret), Rotated: now, Created: now,
	}
	err = k.Store.Update(ctx, func(tx *store.Tx) error {
		of, err := k.of(tx, r.Person)
		if err != nil {
			return err
		}
		slices.SortFunc(of, func(a, b row) int { return cmp.Compare(b.Rotated, a.Rotated) })
		for i := maxSessions - 1; i < len(of); i++ {
			if err := drop(tx, tableSessions, of[i].ID); err != nil {
				return err
			}
		}
		if !byCode {
			if err := put(tx, tablePeople, personRow{r.who, now}); err != nil {
				return err
			}
		}
		return k.save(tx, r)
	})
	return r.ID + "." + secret, err
}

// short is a text of a stranger as far as it is kept.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), maxAgent)]
}

// of are the sessions of a person.
func (k *Keeper) of(tx *store.Tx, person string) ([]row, error) {
	return rows(tx.QueryAll(store.Query{
		Table: tableSessions, Index: byPerson, KeyCondition: "person = :p", Params: expr.Params{Values: attr.Item{":p": attr.S(person)}},
	}), k.lives)
}

// Of lists the sessions of a person, the last used first. Without one it lists those of all, as many as fit a page.
func (k *Keeper) Of(ctx context.Context, id *auth.Identity) (list []Session, err error) {
	var all []row
	err = k.Store.View(ctx, func(tx *store.Tx) (err error) {
		if id != nil {
			all, err = k.of(tx, person(id.Issuer, id.Subject))
		} else {
			all, err = rows(tx.ScanAll(store.Scan{Table: tableSessions}), k.lives)
		}
		return err
	})
	slices.SortFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(b.Rotated, a.Rotated), cmp.Compare(a.ID, b.ID)) })
	for i := range all {
		r := &all[i]
		list = append(list, Session{
			ID: r.ID, Subject: r.Subject, Issuer: r.Issuer, Name: cmp.Or(r.Name, r.Email), Admin: r.Admin, Agent: r.Agent, ByCode: r.ByCode,
			CreatedAt: time.Unix(r.Created, 0).UTC(), SeenAt: time.Unix(r.Rotated, 0).UTC(), ExpiresAt: time.Unix(k.ends(r), 0).UTC(),
		})
	}
	return list, err
}

// End ends a session: one's own, or as an admin anybody's. Others are told that there is none.
func (k *Keeper) End(ctx context.Context, id string, by auth.Identity) error {
	return k.Store.Update(ctx, func(tx *store.Tx) error {
		r, err := k.get(tx, id)
		if err != nil {
			return err
		}
		if r == nil || !by.Admin && r.Person != person(by.Issuer, by.Subject) {
			return fault.New(fault.NotFound, "no_session", "There is no such session.")
		}
		return drop(tx, tableSessions, id)
	})
}
