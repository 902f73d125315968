package hacktracker

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
)

// Role is what a member may do in a team.
type Role string

// The roles.
const (
	Owner       Role = "owner"
	Manager     Role = "manager"
	Member      Role = "player"
	Scorekeeper Role = "scorekeeper"
)

const (
	active   = "active"
	inactive = "inactive"
	deleted  = "deleted"
)

// User is a person's profile.
type User struct {
	ID        string `json:"userId"`
	Email     string `json:"email"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	Phone     string `json:"phoneNumber,omitempty"`
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

// Stranger is what is shown of a user to somebody who is in no team with them, or only in teams that the user has not accepted.
type Stranger struct {
	ID        string `json:"userId"`
	FirstName string `json:"firstName"`
}

// nameless is the first name of a user without one.
const nameless = "Player"

// stranger returns what everybody may see of a user. A first name that was made from the e-mail address is left out: it is half of the address.
func (u *User) stranger() Stranger {
	out := Stranger{ID: u.ID, FirstName: u.FirstName}
	if before, _, _ := strings.Cut(u.Email, "@"); before != "" && before == u.FirstName {
		out.FirstName = nameless
	}
	return out
}

func userOf(it attr.Item) User {
	return User{
		ID: cmp.Or(it["userId"].Str(), strings.TrimPrefix(it["PK"].Str(), prefixUser)), Email: it["email"].Str(), FirstName: it["firstName"].Str(),
		LastName: it["lastName"].Str(), Phone: it["phoneNumber"].Str(), CreatedAt: it["createdAt"].Str(), UpdatedAt: it["updatedAt"].Str(),
	}
}

// Membership is a user's role in a team.
type Membership struct {
	UserID     string  `json:"userId"`
	TeamID     string  `json:"teamId"`
	Role       Role    `json:"role"`
	Status     string  `json:"status"`
	JoinedAt   string  `json:"joinedAt"`
	InvitedBy  *string `json:"invitedBy"`
	AcceptedAt string  `json:"acceptedAt,omitempty"` // when the user accepted it, if somebody else made it
}

func membershipOf(it attr.Item) Membership {
	return Membership{
		UserID: strings.TrimPrefix(it["PK"].Str(), prefixUser), TeamID: strings.TrimPrefix(it["SK"].Str(), prefixTeam),
		Role: Role(it["role"].Str()), Status: it["status"].Str(), JoinedAt: it["joinedAt"].Str(), InvitedBy: textOf(it["invitedBy"]),
		AcceptedAt: it["acceptedAt"].Str(),
	}
}

// isActive reports whether a user is an active member.
func (m *Membership) isActive() bool { return m.Status == active }

// isAccepted reports whether the user made or accepted the membership. The original wrote memberships of teams' owners only, for those who
// made the team.
func (m *Membership) isAccepted() bool {
	return m.AcceptedAt != "" || m.Role == Owner && m.InvitedBy == nil
}

// The types of team: a managed team, and a personal one for its owner's own statistics, with no other player.
const (
	Managed  = "MANAGED"
	Personal = "PERSONAL"
)

// Team is a team. Role is the caller's role, if they are a member. Offered tells them that somebody else made them one, and that they have
// not accepted.
type Team struct {
	ID          string `json:"teamId"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	OwnerID     string `json:"ownerId"`
	Type        string `json:"team_type"`
	Role        Role   `json:"role,omitempty"`
	Offered     bool   `json:"offered,omitempty"`
	Status      string `json:"status"`
	CreatedAt   string `json:"createdAt"`
	UpdatedAt   string `json:"updatedAt"`
}

// teamOf decodes a row. A row of the first version has neither type nor status and is an active, managed team.
func teamOf(it attr.Item) Team {
	return Team{
		ID: strings.TrimPrefix(it["PK"].Str(), prefixTeam), Name: it["name"].Str(), Description: it["description"].Str(), OwnerID: it["ownerId"].Str(),
		Type: cmp.Or(it["team_type"].Str(), Managed), Status: cmp.Or(it["status"].Str(), active), CreatedAt: it["createdAt"].Str(), UpdatedAt: it["updatedAt"].Str(),
	}
}

// Player is a row of a roster. A ghost is a player without a user.
type Player struct {
	ID        string   `json:"playerId"`
	TeamID    string   `json:"teamId"`
	FirstName string   `json:"firstName"`
	LastName  string   `json:"lastName,omitempty"`
	Number    *int     `json:"playerNumber,omitempty"`
	Positions []string `json:"positions,omitempty"`
	Status    string   `json:"status"`
	Ghost     bool     `json:"isGhost"`
	UserID    *string  `json:"userId"`
	LinkedAt  *string  `json:"linkedAt"`
	CreatedAt string   `json:"createdAt"`
	UpdatedAt string   `json:"updatedAt"`

	Role    Role   `json:"role,omitempty"`          // of the user, if requested
	Account string `json:"-"`                       // with the role: what the caller may see of the user's name, or their ID if this node has no profile of them
	Refused *int   `json:"numberRefused,omitempty"` // number lost to a player added at another node
}

func playerOf(it attr.Item) Player {
	return Player{
		ID: strings.TrimPrefix(it["SK"].Str(), prefixPlayer), TeamID: strings.TrimPrefix(it["PK"].Str(), prefixTeam), FirstName: it["firstName"].Str(),
		LastName: it["lastName"].Str(), Number: wholeOf(it["playerNumber"]), Status: cmp.Or(it["status"].Str(), active), UserID: textOf(it["userId"]),
		LinkedAt: textOf(it["linkedAt"]), CreatedAt: it["createdAt"].Str(), UpdatedAt: it["updatedAt"].Str(), Refused: wholeOf(it["numberRefused"]),
		Ghost: textOf(it["userId"]) == nil, Positions: textsOf(it["positions"]),
	}
}

// Shirt formats a number; empty if there is none.
func Shirt(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// Name returns the name to show for a player.
func (p *Player) Name() string { return strings.TrimSpace(p.FirstName + " " + p.LastName) }

// The states of a game.
const (
	Scheduled  = "SCHEDULED"
	InProgress = "IN_PROGRESS"
	Final      = "FINAL"
	Postponed  = "POSTPONED"
)

// Slot is a place in the batting order.
type Slot struct {
	PlayerID     string `json:"playerId"`
	BattingOrder int    `json:"battingOrder"`
}

// Game is a game of a team.
type Game struct {
	ID             string `json:"gameId"`
	TeamID         string `json:"teamId"`
	Status         string `json:"status"`
	ScheduledStart string `json:"scheduledStart,omitempty"`
	Opponent       string `json:"opponentName,omitempty"`
	Location       string `json:"location,omitempty"`
	SeasonID       string `json:"seasonId,omitempty"`
	TeamScore      int    `json:"teamScore"`
	OpponentScore  int    `json:"opponentScore"`
	Lineup         []Slot `json:"lineup"` // in batting order
	CreatedAt      string `json:"createdAt"`
	UpdatedAt      string `json:"updatedAt"`
	FinalAt        string `json:"finalAt,omitempty"`      // when it was first final
	StartRefused   string `json:"startRefused,omitempty"` // the other game because of which the cloud refused this one's start

	RunKeys []string `json:"-"` // ends of the keys of taps that added runs

	scored bool // its row has both scores
}

func gameOf(it attr.Item) Game {
	return Game{
		ID: strings.TrimPrefix(it["PK"].Str(), prefixGame), TeamID: cmp.Or(it["teamId"].Str(), strings.TrimPrefix(it["GSI3PK"].Str(), prefixTeam)),
		Status: cmp.Or(it["status"].Str(), Scheduled), ScheduledStart: it["scheduledStart"].Str(), Opponent: it["opponentName"].Str(), Location: it["location"].Str(), SeasonID: it["seasonId"].Str(),
		TeamScore: number(it["teamScore"]), OpponentScore: number(it["opponentScore"]), Lineup: lineupOf(it["lineup"]),
		CreatedAt: it["createdAt"].Str(), UpdatedAt: it["updatedAt"].Str(), FinalAt: it["finalAt"].Str(), RunKeys: textsOf(it["runKeys"]),
		StartRefused: it["startRefused"].Str(), scored: wholeOf(it["teamScore"]) != nil && wholeOf(it["opponentScore"]) != nil,
	}
}

// lineupOf decodes a lineup: slots or, as in the first version's documentation, player ids in batting order.
func lineupOf(v attr.Value) []Slot {
	out := []Slot{}
	for i, one := range v.List() {
		slot := Slot{BattingOrder: i + 1}
		switch m := one.Map(); {
		case m != nil:
			slot = Slot{m["playerId"].Str(), or(wholeOf(m["battingOrder"]), i+1)}
		case one.Kind() == attr.KindS:
			slot.PlayerID = one.Str()
		}
		if slot.PlayerID != "" {
			out = append(out, slot)
		}
	}
	slices.SortStableFunc(out, func(a, b Slot) int { return cmp.Compare(a.BattingOrder, b.BattingOrder) })
	return out
}

// Point is where a ball was hit to, as fractions of the field's picture from its left and top.
type Point struct {
	X float64 `dynamodbav:"x" json:"x"`
	Y float64 `dynamodbav:"y" json:"y"`
}

// AtBat is a plate appearance as scored. Inning, Outs and BattingOrder are the values sent by the scorer's device.
type AtBat struct {
	ID           string `json:"atBatId"`
	GameID       string `json:"gameId"`
	TeamID       string `json:"teamId"`
	PlayerID     string `json:"playerId"`
	Result       string `json:"result"`
	Inning       int    `json:"inning"`
	Outs         int    `json:"outs"`
	BattingOrder int    `json:"battingOrder"`
	HitLocation  *Point `json:"hitLocation,omitempty"`
	HitType      string `json:"hitType,omitempty"`
	RBIs         int    `json:"rbis"`
	CreatedAt    string `json:"createdAt"`
	UpdatedAt    string `json:"updatedAt"`
	MadeBy       string `json:"madeBy,omitempty"`     // who made what somebody handed in: a user, or "device:" and its hash
	HandedInBy   string `json:"handedInBy,omitempty"` // the user who handed it in

	sk string
}

func atBatOf(it attr.Item) AtBat {
	a := AtBat{
		ID: cmp.Or(it["atBatId"].Str(), strings.TrimPrefix(it["SK"].Str(), prefixAtBat)), sk: it["SK"].Str(),
		GameID: strings.TrimPrefix(it["PK"].Str(), prefixGame), TeamID: it["teamId"].Str(), PlayerID: it["playerId"].Str(),
		Result: strings.ToUpper(it["result"].Str()), Inning: number(it["inning"]), Outs: number(it["outs"]), BattingOrder: number(it["battingOrder"]),
		HitType: hitType(it["hitType"].Str()), RBIs: number(it["rbis"]), CreatedAt: it["createdAt"].Str(), UpdatedAt: it["updatedAt"].Str(),
		MadeBy: it["madeBy"].Str(), HandedInBy: it["handedInBy"].Str(),
	}
	if at := it["hitLocation"].Map(); at["x"].Kind() == attr.KindN && at["y"].Kind() == attr.KindN {
		a.HitLocation = &Point{decimal(at["x"]), decimal(at["y"])}
	}
	return a
}

// orderTime returns the time that orders at-bats, in milliseconds: that of a ULID id, else the row's creation time.
func (a *AtBat) orderTime() int64 {
	if id, err := ulid.ParseStrict(a.ID); err == nil {
		return int64(id.Time())
	}
	created, _ := patch.Instant(a.CreatedAt) // the original's may be without their zone
	at, _ := time.Parse(patch.Stamp, created)
	return at.UnixMilli()
}

// Sort orders at-bats by time, then by id, so that all nodes have the same order.
func Sort(all []AtBat) {
	slices.SortFunc(all, func(a, b AtBat) int {
		return cmp.Or(cmp.Compare(a.orderTime(), b.orderTime()), strings.Compare(a.ID, b.ID))
	})
}

func textOf(v attr.Value) *string {
	if v.Str() == "" {
		return nil
	}
	return new(v.Str())
}

// textsOf returns the strings of a list or set.
func textsOf(v attr.Value) []string {
	out := slices.Clone(v.Strs())
	for _, one := range v.List() {
		out = append(out, one.Str())
	}
	return out
}

// number reads an integer; other programs may have stored a fraction. A value that is no number is 0.
func number(v attr.Value) int { return or(wholeOf(v), 0) }

// or returns the number, or none if n is nil.
func or(n *int, none int) int {
	if n == nil {
		return none
	}
	return *n
}

func wholeOf(v attr.Value) *int {
	f := decimal(v)
	if v.Kind() != attr.KindN || math.Abs(f) > 1e9 { // nothing that is counted here is as much
		return nil
	}
	return new(int(f))
}

func decimal(v attr.Value) float64 {
	f, _ := strconv.ParseFloat(v.Text(), 64)
	return f
}
