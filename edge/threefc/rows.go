package threefc

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// The states of a game.
const (
	Scheduled = "scheduled"
	Live      = "live"
	Finished  = "finished"
)

// The roles in a league.
const (
	RoleAdmin       = "admin"
	RoleScorekeeper = "scorekeeper"
	RoleViewer      = "viewer"
)

// TeamIDs returns the ids of the three teams, in display order.
func TeamIDs() []string { return []string{"red", "blue", "yellow"} }

// IsTeam reports whether id names a team.
func IsTeam(id string) bool { return slices.Contains(TeamIDs(), id) }

// defaultTeams holds the name and colour of each team until an admin changes them.
var defaultTeams = map[string][2]string{"red": {"Red", "#d83b36"}, "blue": {"Blue", "#2364d2"}, "yellow": {"Yellow", "#e0a612"}}

// League is a league.
type League struct {
	LeagueID        string  `json:"leagueId"`
	Name            string  `json:"name"`
	Slug            *string `json:"slug"`
	CreatedByUserID string  `json:"createdByUserId"`
	Stamps
}

// Season is a season of a league. Its mirror is the same record stored under the season's own key.
type Season struct {
	LeagueID string  `json:"leagueId"`
	SeasonID string  `json:"seasonId"`
	Name     string  `json:"name"`
	Slug     *string `json:"slug"`
	StartsOn *string `json:"startsOn"`
	EndsOn   *string `json:"endsOn"`
	Stamps
}

// SeasonTeam is the name and colour of a team in a season.
type SeasonTeam struct {
	SeasonID string  `json:"seasonId"`
	TeamID   string  `json:"teamId"`
	Name     string  `json:"name"`
	Color    *string `json:"color"`
	Stamps
}

// GameTeam is the name and colour of a team in a game, with its tallies.
type GameTeam struct {
	GameID   string  `json:"gameId"`
	TeamID   string  `json:"teamId"`
	Name     string  `json:"name"`
	Color    *string `json:"color"`
	Scored   int     `json:"scored"`
	Conceded int     `json:"conceded"`
	Stamps
}

// Session is a day of games in a season. Its mirror is the same record stored under the session's own key.
type Session struct {
	SeasonID    string `json:"seasonId"`
	SessionID   string `json:"sessionId"`
	SessionDate string `json:"sessionDate"`
	Stamps
}

// Third holds the start and finish times of one third of a game.
type Third struct {
	Third      int     `json:"third"`
	StartedAt  *string `json:"startedAt"`
	FinishedAt *string `json:"finishedAt"`
}

// Game is a game. Result is the stored result; the API computes its own from the goals.
type Game struct {
	GameID             string  `json:"gameId"`
	JoinCode           string  `json:"joinCode"`
	LeagueID           string  `json:"leagueId"`
	SeasonID           string  `json:"seasonId"`
	SessionID          string  `json:"sessionId"`
	Status             string  `json:"status"`
	GameStartTs        string  `json:"gameStartTs"` //nolint:staticcheck // as the rows spell it
	ThirdLengthMinutes int     `json:"thirdLengthMinutes"`
	Thirds             []Third `json:"thirds"`
	FinishedAt         *string `json:"finishedAt"`
	Result             *Result `json:"result"`
	Stamps
}

// conditionAttrs returns the attributes of a game's row beside its data, for conditions.
func (g Game) conditionAttrs() attr.Item {
	if g.FinishedAt == nil {
		return nil
	}
	return attr.Item{attrFinished: attr.S(*g.FinishedAt)}
}

// attrFinished is when a game was finished. Rows of the original, and older ones, have it in their data alone.
const attrFinished = "finishedAt"

// sessionGame is an entry in the index of a session's games by start time.
type sessionGame struct {
	SessionID   string `json:"sessionId"`
	GameID      string `json:"gameId"`
	GameStartTs string `json:"gameStartTs"` //nolint:staticcheck // as the rows spell it
	LeagueID    string `json:"leagueId"`
	SeasonID    string `json:"seasonId"`
	Stamps
}

// Player is a player. LeagueID is our addition: the league in one of whose games the player was created. Rows of the original, and older
// ones, lack it.
type Player struct {
	PlayerID        string  `json:"playerId"`
	Nickname        string  `json:"nickname"`
	ClaimedByUserID *string `json:"claimedByUserId"`
	LeagueID        string  `json:"leagueId,omitempty"`
	Stamps
}

// gamePlayer records that a player takes part in a game. TeamID is our addition. It repeats the team of the roster row: a reassignment
// compares and sets it, so that a player ends up in one team even if two nodes assign him.
type gamePlayer struct {
	GameID   string `json:"gameId"`
	PlayerID string `json:"playerId"`
	TeamID   string `json:"teamId"`
	Stamps
}

// Rostered is a player's place in a team of a game.
type Rostered struct {
	GameID   string `json:"gameId"`
	TeamID   string `json:"teamId"`
	PlayerID string `json:"playerId"`
	Stamps
}

// Moment is a reading of the game clock.
type Moment struct {
	Third          int    `json:"third"`
	ThirdMinute    int    `json:"thirdMinute"`
	GameMinute     int    `json:"gameMinute"`
	ElapsedSeconds int    `json:"elapsedSeconds"`
	StoppageMinute *int   `json:"stoppageMinute"`
	DisplayTime    string `json:"displayTime"`
}

// Scored is the part of a goal that the scorer enters.
type Scored struct {
	ScoringTeamID   *string  `json:"scoringTeamId"` // nil: an own goal
	ConcedingTeamID string   `json:"concedingTeamId"`
	ScorerPlayerID  string   `json:"scorerPlayerId"`
	AssistPlayerIDs []string `json:"assistPlayerIds"`
	OwnGoal         bool     `json:"ownGoal"`
}

// GoalFacts is a goal as stored in the audit.
type GoalFacts struct {
	EventID string `json:"eventId"`
	Moment
	Scored
}

// Goal is a goal. Late is our addition: it arrived after the game was finished.
type Goal struct {
	GameID string `json:"gameId"`
	GoalFacts
	Late bool `json:"late,omitempty"`

	unseen bool // reconstructed: the row has not arrived yet
	Stamps
}

// marker reserves an event id.
type marker struct {
	GameID  string `json:"gameId"`
	EventID string `json:"eventId"`
	Stamps
}

// gone says that a goal was taken back, under whatever id. It is dropped after undoneFor.
type gone struct {
	GameID  string `json:"gameId"`
	EventID string `json:"eventId"`
	Changed string `json:"changed"`          // when the goal was changed last, as far as was known where it was taken back
	Unseen  bool   `json:"unseen,omitempty"` // the goal was not there yet: any node that has it removes it because of this row
	Stamps
}

// goalState is an exported summary of a game's goals for other readers of the table.
type goalState struct {
	GameID        string  `json:"gameId"`
	LatestEventID *string `json:"latestEventId"`
	LatestGoalSK  *string `json:"latestGoalSk"`
	Revision      int     `json:"revision"`
	Stamps
}

// The actions recorded in the audit.
const (
	goalCreated = "goal_created"
	goalUpdated = "goal_updated"
	goalDeleted = "goal_deleted"
	goalUndone  = "goal_undo_last"
)

// Audit records one change to a goal and who made it. MadeBy is our addition: who entered what the actor handed in.
type Audit struct {
	AuditID     string     `json:"auditId"`
	GameID      string     `json:"gameId"`
	EventID     string     `json:"eventId"`
	ActorUserID string     `json:"actorUserId"`
	MadeBy      string     `json:"madeBy,omitempty"`
	Action      string     `json:"action"`
	Before      *GoalFacts `json:"before"`
	After       *GoalFacts `json:"after"`
	Stamps
}

// operation records a correction made with an Idempotency-Key, and its result.
type operation struct {
	GameID      string `json:"gameId"`
	EventID     string `json:"eventId"`
	OperationID string `json:"operationId"`
	RequestHash string `json:"requestHash"`
	Action      string `json:"action"`
	Result      struct {
		Audit Audit `json:"audit"`
	} `json:"result"`
	Stamps
}

// Access is a user's role in a league.
type Access struct {
	LeagueID        string `json:"leagueId"`
	UserID          string `json:"userId"`
	Role            string `json:"role"`
	GrantedByUserID string `json:"grantedByUserId"`
	Accepted        *bool  `json:"accepted,omitempty"` // false: offered; nil, as in rows of the original: it counts
	Stamps
}

// counts reports whether a role gives rights: an offered one does when its owner has accepted it.
func (a *Access) counts() bool { return a.Role != "" && (a.Accepted == nil || *a.Accepted) }

// Invite lets its recipient become an admin of a league.
type Invite struct {
	LeagueID         string  `json:"leagueId"`
	InviteCode       string  `json:"inviteCode"`
	Kind             string  `json:"kind"` // share: reusable; email: single use, for one address
	Role             string  `json:"role"`
	Email            *string `json:"email"`
	CreatedByUserID  string  `json:"createdByUserId"`
	AcceptedByUserID *string `json:"acceptedByUserId"`
	AcceptedAt       *string `json:"acceptedAt"`
	Stamps
}

// sharePointer points to a league's reusable invite.
type sharePointer struct {
	LeagueID   string `json:"leagueId"`
	InviteCode string `json:"inviteCode"`
	Stamps
}

// joinCode maps a join code to its game.
type joinCode struct {
	JoinCode string `json:"joinCode"`
	GameID   string `json:"gameId"`
	Stamps
}

// playerClaim records which user has claimed a player.
type playerClaim struct {
	UserID   string `json:"userId"`
	PlayerID string `json:"playerId"`
	Stamps
}

// tombstone marks a partition for emptying. The tombstone of a game also names the rows that point to the game.
type tombstone struct {
	GameID      string `json:"gameId,omitempty"`
	SessionID   string `json:"sessionId,omitempty"`
	GameStartTs string `json:"gameStartTs,omitempty"` //nolint:staticcheck // as the rows spell it
	JoinCode    string `json:"joinCode,omitempty"`
	Stamps
}

// third returns the third with number n, or nil if it has no record yet.
func (g *Game) third(n int) *Third {
	for i := range g.Thirds {
		if g.Thirds[i].Third == n {
			return &g.Thirds[i]
		}
	}
	return nil
}

// ThirdOf parses the number of a third, 1 to 3.
func ThirdOf(text string) (n int, ok bool) {
	n = slices.Index([]string{"1", "2", "3"}, text) + 1
	return n, n > 0
}
