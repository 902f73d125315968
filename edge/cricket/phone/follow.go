package phone

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Follow is a user's request to be notified about a match.
type Follow struct {
	MatchID   string    `dynamodbav:"matchId" json:"matchId"`
	UserID    string    `dynamodbav:"userId" json:"userId"`
	TeamID    int64     `dynamodbav:"teamId,omitempty" json:"teamId,omitempty"` // the team they support
	CreatedAt time.Time `dynamodbav:"createdAt" json:"createdAt"`
	ExpiresAt int64     `dynamodbav:"expiresAt" json:"expiresAt"` // epoch seconds
}

// Follows holds the follows of all matches. The zero value is ready to use.
type Follows struct{}

func followKey(matchID, userID string) attr.Item {
	return attr.Item{"matchId": attr.S(matchID), "userId": attr.S(userID)}
}

func noFollow(matchID string) error {
	return fault.New(fault.NotFound, "follow_not_found", "you do not follow match %q", matchID)
}

// Add makes a user follow a match; created is false if they already did. Following again may change the team and keeps
// createdAt. The match must be known (NotFound) and not over (Conflict). If it is live, every device of the user gets a
// session at once.
func (Follows) Add(tx *store.Tx, matchID, userID string, teamID int64) (f Follow, created bool, err error) {
	if matchID == "" || userID == "" {
		return Follow{}, false, fault.New(fault.Invalid, "validation", "matchId and userId are required")
	}
	fx, err := matches.Fixtures{}.Get(tx, matchID)
	if err != nil {
		return Follow{}, false, err
	}
	if fx.IsOver() || !fx.ArchivedAt.IsZero() {
		return Follow{}, false, matchOver(matchID)
	}
	u := store.UpdateItem{
		Table: tables.Follows, Key: followKey(matchID, userID),
		Update: "SET expiresAt = :expires, createdAt = if_not_exists(createdAt, :now)",
		Params: expr.Params{Values: attr.Item{
			":expires": attr.Int(fx.FollowedUntil(tx.Now()).Unix()), ":now": attr.Time(tx.Now()),
		}},
	}
	if teamID != 0 {
		u.Update += ", teamId = :team"
		u.Params.Values[":team"] = attr.Int(teamID)
	}
	images, err := tx.Update(u)
	if err != nil {
		return Follow{}, false, err
	}
	if err := attr.Unmarshal(images.New, &f); err != nil {
		return Follow{}, false, err
	}
	return f, images.Old == nil, f.await(tx)
}

// await gives each device of a follower a session that waits for its token, if the match is live already.
func (f *Follow) await(tx *store.Tx) error {
	live, err := matches.IsLive(tx, f.MatchID)
	if err != nil || !live {
		return err
	}
	devices, err := Devices{}.OfUser(tx, f.UserID)
	for i := range devices {
		if _, err := (Activities{}).Ensure(tx, f.MatchID, f.UserID, devices[i].DeviceID, f.ExpiresAt); err != nil {
			return err
		}
	}
	return err
}

// Remove ends a follow, and with it the user's Live Activities of the match. NotFound if there is none.
func (Follows) Remove(tx *store.Tx, matchID, userID string) error {
	old, err := tx.Delete(store.DeleteItem{Table: tables.Follows, Key: followKey(matchID, userID)})
	if err != nil {
		return err
	}
	if old == nil {
		return noFollow(matchID)
	}
	_, err = Activities{}.endUser(tx, matchID, userID, EndUnfollowed)
	return err
}

// SetTeam changes the team that a follower supports.
func (Follows) SetTeam(tx *store.Tx, matchID, userID string, teamID int64) (f Follow, err error) {
	images, err := tx.Update(store.UpdateItem{
		Table: tables.Follows, Key: followKey(matchID, userID),
		Update: "SET teamId = :team", Condition: "attribute_exists(matchId)",
		Params: expr.Params{Values: attr.Item{":team": attr.Int(teamID)}},
	})
	if fault.Is(err, fault.Conflict) {
		return Follow{}, noFollow(matchID)
	}
	if err != nil {
		return Follow{}, err
	}
	return f, attr.Unmarshal(images.New, &f)
}

// Get returns a user's follow of a match; NotFound if there is none.
func (Follows) Get(tx *store.Tx, matchID, userID string) (Follow, error) {
	return tables.Get[Follow](tx, tables.Follows, followKey(matchID, userID), noFollow(matchID))
}

// OfMatch lists the followers of a match.
func (Follows) OfMatch(tx *store.Tx, matchID string) ([]Follow, error) {
	return tables.Decode[Follow](tx, tables.Follows, tx.QueryAll(tables.OfMatch(tables.Follows, matchID)))
}

func matchOver(matchID string) error {
	return fault.New(fault.Conflict, "match_over", "match %q is over", matchID)
}
