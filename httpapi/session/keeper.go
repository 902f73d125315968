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
	rotateEvery = time.Hour        // how often the secret is replaced; more often if idle sessions end sooner
	grace       = time.Minute      // for requests in flight with the old secret, and answers in flight with the next one
	lookAgain   = 15 * time.Minute // how long a stream may rely on a session before it is checked again
	maxSessions = 20               // per person
	maxListed   = 1000             // sessions or people in a list
	maxAgent    = 120              // bytes kept of a User-Agent
)

// Config configures a Keeper. All fields are required.
type Config struct {
	Store *store.Store
	Clock clock.Clock              // real time
	Idle  time.Duration            // an unused session ends after this
	Life  time.Duration            // every session ends after this
	Knows func(issuer string) bool // reports whether an issuer is still accepted
	Log   *slog.Logger
}

// Keeper manages sessions, people and codes. It is safe for concurrent use.
type Keeper struct{ Config }

// New returns a Keeper. It does no I/O.
func New(c Config) *Keeper { return &Keeper{c} }

// Session is a session as shown to people.
type Session struct {
	ID        string    `json:"id"`
	Subject   string    `json:"userId"`
	Issuer    string    `json:"issuer"`
	Name      string    `json:"name,omitempty"`
	Admin     bool      `json:"admin"`
	Agent     string    `json:"agent"` // the browser's User-Agent
	ByCode    bool      `json:"byCode"`
	CreatedAt time.Time `json:"createdAt"`
	SeenAt    time.Time `json:"seenAt"` // to the hour
	ExpiresAt time.Time `json:"expiresAt"`
	Current   bool      `json:"current"` // the caller's own session
}

// row is a session as stored.
type row struct {
	ID     string `dynamodbav:"id"`
	Person string `dynamodbav:"person"`
	who
	ByCode  bool       `dynamodbav:"byCode"`
	Agent   string     `dynamodbav:"agent"`
	Cookie  CookieName `dynamodbav:"cookie,omitempty"` // empty: the session is older than the two names
	Secret  []byte     `dynamodbav:"secret"`           // SHA-256
	Next    []byte     `dynamodbav:"next,omitempty"`   // SHA-256 of the secret that was sent out but not used yet
	NextAt  int64      `dynamodbav:"nextAt"`           // Unix seconds, like all times here
	Old     []byte     `dynamodbav:"old,omitempty"`    // up to oldKept hashes of former secrets, the latest last
	Rotated int64      `dynamodbav:"rotated"`          // when Secret became current
	Created int64      `dynamodbav:"created"`
	TTL     int64      `dynamodbav:"ttl"`
}

// CookieName is which of its two names the cookie of a session has.
type CookieName string

// The names. A browser accepts a prefixed name by https alone, and sends it to no other host, so nobody else can have set it.
const (
	PlainName    CookieName = "plain"
	PrefixedName CookieName = "prefixed" // with __Host-
)

// who is a person as the issuer described them at sign-in.
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

// person returns the key of a person: subjects are unique only per issuer.
func person(issuer, subject string) string { return issuer + " " + subject }

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func (k *Keeper) now() int64 { return k.Clock.Wall().Unix() }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// ends returns when a session ends if it is not used again.
func (k *Keeper) ends(r *row) int64 { return min(r.Created+seconds(k.Life), r.Rotated+seconds(k.Idle)) }

// save stores a session.
func (k *Keeper) save(tx *store.Tx, r *row) error {
	r.TTL = k.ends(r)
	return put(tx, tableSessions, r)
}

// put stores a row.
func put(tx *store.Tx, table string, row any) error {
	item, err := attr.Marshal(row)
	if err == nil {
		_, err = tx.Put(store.PutItem{Table: table, Item: item, NoOld: true})
	}
	return err
}

// get reads a row and returns it if counts accepts it; nil: there is none. Rows of other versions that cannot be decoded are ignored,
// here and in rows.
func get[T any](tx *store.Tx, table, id string, counts func(*T) bool) (*T, error) {
	item, err := tx.Get(table, attr.Item{"id": attr.S(id)})
	var r T
	if err != nil || item == nil || attr.Unmarshal(item, &r) != nil || !counts(&r) {
		return nil, err
	}
	return &r, nil
}

// rows returns the rows that counts accepts, up to maxListed.
func rows[T any](items iter.Seq2[attr.Item, error], counts func(*T) bool) (all []T, err error) {
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		var r T
		if attr.Unmarshal(item, &r) != nil || !counts(&r) {
			continue
		}
		if all = append(all, r); len(all) == maxListed {
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

// SignIn describes how somebody has signed in.
type SignIn struct {
	Agent  string     // the browser's User-Agent
	ByCode bool       // with one of our codes, not at the issuer
	Cookie CookieName // under which the browser will keep the session
}

// Begin starts a session for a person who has just signed in, and returns the cookie. If the person has too many sessions, the least
// recently used ones end.
func (k *Keeper) Begin(ctx context.Context, id auth.Identity, in SignIn) (cookie string, err error) {
	secret, now := rand.Text(), k.now()
	r := &row{
		ID: rand.Text()[:16], Person: person(id.Issuer, id.Subject), who: whoIs(id), ByCode: in.ByCode, Agent: short(in.Agent),
		Cookie: in.Cookie, Secret: hash(secret), Rotated: now, Created: now,
	}
	err = k.Store.Update(ctx, func(tx *store.Tx) error {
		of, err := k.sessionsOf(tx, r.Person)
		if err != nil {
			return err
		}
		slices.SortFunc(of, func(a, b row) int { return cmp.Compare(b.Rotated, a.Rotated) })
		for i := maxSessions - 1; i < len(of); i++ {
			if err := drop(tx, tableSessions, of[i].ID); err != nil {
				return err
			}
		}
		if !in.ByCode {
			if err := put(tx, tablePeople, personRow{r.who, now}); err != nil {
				return err
			}
		}
		return k.save(tx, r)
	})
	return r.ID + "." + secret, err
}

// short returns the printable ASCII of a User-Agent, truncated.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), maxAgent)]
}

// sessionsOf returns a person's sessions.
func (k *Keeper) sessionsOf(tx *store.Tx, person string) ([]row, error) {
	return rows(tx.QueryAll(store.Query{
		Table: tableSessions, Index: byPerson, KeyCondition: "person = :p", Params: expr.Params{Values: attr.Item{":p": attr.S(person)}},
	}), k.lives)
}

// SessionsOf returns a person's sessions, the most recently used first; nil: everybody's, up to maxListed.
func (k *Keeper) SessionsOf(ctx context.Context, id *auth.Identity) (list []Session, err error) {
	var all []row
	err = k.Store.View(ctx, func(tx *store.Tx) (err error) {
		if id != nil {
			all, err = k.sessionsOf(tx, person(id.Issuer, id.Subject))
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

// EndAll ends all sessions of a person.
func (k *Keeper) EndAll(ctx context.Context, who auth.Identity) error {
	return k.Store.Update(ctx, func(tx *store.Tx) error {
		all, err := k.sessionsOf(tx, person(who.Issuer, who.Subject))
		for i := range all {
			if err == nil {
				err = drop(tx, tableSessions, all[i].ID)
			}
		}
		return err
	})
}

// End ends a session. People may end their own, admins everybody's; others get fault.NotFound.
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
