package mail

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Cause is why a message is sent. Each cause has a pot of messages per hour of its own: what users cause cannot keep anybody from
// signing in.
type Cause string

// The causes.
const (
	ByUser Cause = "users"   // a user's action, such as an invitation; also that of a message without a cause
	SignIn Cause = "sign-in" // a request for a link to sign in with
)

// share is the part of a pot, 1/share, that one client address or one group may use up.
const share = 5

// pot returns how many messages per hour a cause may send.
func (c *Config) pot(of Cause) int {
	users := c.UsersPerHour
	if users == 0 {
		users = max(1, c.PerHour/4)
	}
	if of == ByUser {
		return users
	}
	return c.PerHour - users
}

// counted is how many messages of the last hour count against a new one.
type counted struct {
	pot, client, group    int
	recipient, fromClient int // to the recipient: from all clients, and from this one
}

// add counts a message against a new one of the same cause.
func (n *counted) add(r, next *row) {
	n.pot++
	same := r.Client == next.Client
	if same && r.Client != "" {
		n.client++
	}
	if r.Group == next.Group && r.Group != "" {
		n.group++
	}
	if strings.EqualFold(r.To, next.To) {
		n.recipient++
		if same {
			n.fromClient++
		}
	}
}

// refuse returns fault.Throttled for a message that is one too many. An address gets messages that other clients cause even after one client
// has used up its number: else that client could keep the address's owner from signing in.
func (o *Outbox) refuse(tx *store.Tx, next *row) error {
	var n counted
	for r, err := range o.rows(tx) {
		if err != nil {
			return err
		}
		if r.Cause == next.Cause && isRecent(&r, next.Queued) {
			n.add(&r, next)
		}
	}
	pot := o.cfg.pot(next.Cause)
	each := max(o.cfg.PerAddress, pot/share)
	if n.pot >= pot || n.client >= each || n.group >= each || n.fromClient >= o.cfg.PerAddress || n.recipient >= 2*o.cfg.PerAddress {
		return fault.New(fault.Throttled, "mail_limit", "Too many messages were sent: try again in an hour.")
	}
	return nil
}

// isRecent reports whether a message counts against the limits. One from the future is from before the clock was set back.
func isRecent(r *row, now time.Time) bool { return now.Sub(r.Queued).Abs() < window }

// usedUp returns the causes whose pots are empty, given the number of recent messages of each.
func (c *Config) usedUp(recent map[Cause]int) (all []Cause) {
	for _, cause := range []Cause{SignIn, ByUser} {
		if recent[cause] >= c.pot(cause) {
			all = append(all, cause)
		}
	}
	return all
}

// hidden returns a name by which messages of one client or group are counted, without storing the client's address.
func hidden(name string) string {
	if name == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
