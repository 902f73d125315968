package threefc

import "slices"

// The states of a game.
const (
	Scheduled = "scheduled"
	Live      = "live"
	Finished  = "finished"
)

// The roles of people in a league.
const (
	RoleAdmin       = "admin"
	RoleScorekeeper = "scorekeeper"
	RoleViewer      = "viewer"
)

// TeamIDs returns the three teams of each game, in the order in which they are shown.
func TeamIDs() []string { return []string{"red", "blue", "yellow"} }

// IsTeam reports whether an id is that of a team.
func IsTeam(id string) bool { return slices.Contains(TeamIDs(), id) }

// defaultTeams are the names and colours where nobody has said anything.
var defaultTeams = map[string][2]string{"red": {"Red", "#d83b36"}, "blue": {"Blue", "#2364d2"}, "yellow": {"Yellow", "#e0a612"}}

// League is a league.
type League struct {
	LeagueID        string  `json:"leagueId"`
	Name            string  `json:"name"`
	Slug            *string `json:"slug"`
	CreatedByUserID string  `json:"createdByUserId"`
	Stamps
}

// Season is a season of a league; its mirror is the same record under its own key.
type Season struct {
	LeagueID string  `json:"leagueId"`
	SeasonID string  `json:"seasonId"`
	Name     string  `json:"name"`
	Slug     *string `json:"slug"`
	StartsOn *string `json:"startsOn"`
	EndsOn   *string `json:"endsOn"`
	Stamps
}

// SeasonTeam is what a team is called in a season.
type SeasonTeam struct {
	SeasonID string  `json:"seasonId"`
	TeamID   string  `json:"teamId"`
	Name     string  `json:"name"`
	Color    *string `json:"color"`
	Stamps
}

// GameTeam is what a team is called in a game, with its tallies.
type GameTeam struct {
	GameID   string  `json:"gameId"`
	TeamID   string  `json:"teamId"`
	Name     string  `json:"name"`
	Color    *string `json:"color"`
	Scored   int     `json:"scored"`
	Conceded int     `json:"conceded"`
	Stamps
}

// Session is a day of games of a season; its mirror is the same record under its own key.
type Session struct {
	SeasonID    string `json:"seasonId"`
	SessionID   string `json:"sessionId"`
	SessionDate string `json:"sessionDate"`
	Stamps
}

// Third is when a third of a game began and ended.
type Third struct {
	Third      int     `json:"third"`
	StartedAt  *string `json:"startedAt"`
	FinishedAt *string `json:"finishedAt"`
}

// Game is a game. Result is what the row has; the API computes it from the goals.
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

// sessionGame is the index of a session's games by start.
type sessionGame struct {
	SessionID   string `json:"sessionId"`
	GameID      string `json:"gameId"`
	GameStartTs string `json:"gameStartTs"` //nolint:staticcheck // as the rows spell it
	LeagueID    string `json:"leagueId"`
	SeasonID    string `json:"seasonId"`
	Stamps
}

// Player is somebody who plays.
type Player struct {
	PlayerID        string  `json:"playerId"`
	Nickname        string  `json:"nickname"`
	ClaimedByUserID *string `json:"claimedByUserId"`
	Stamps
}

// gamePlayer says that a player is here for a game. TeamID is ours: the team, which the roster's rows say too; a reassignment
// compares and sets it, so that a player is in one team though two nodes assign him.
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

// Moment is when in a game something happened, as its clock says it.
type Moment struct {
	Third          int    `json:"third"`
	ThirdMinute    int    `json:"thirdMinute"`
	GameMinute     int    `json:"gameMinute"`
	ElapsedSeconds int    `json:"elapsedSeconds"`
	StoppageMinute *int   `json:"stoppageMinute"`
	DisplayTime    string `json:"displayTime"`
}

// Scored is what a scorer says of a goal.
type Scored struct {
	ScoringTeamID   *string  `json:"scoringTeamId"` // nil: an own goal
	ConcedingTeamID string   `json:"concedingTeamId"`
	ScorerPlayerID  string   `json:"scorerPlayerId"`
	AssistPlayerIDs []string `json:"assistPlayerIds"`
	OwnGoal         bool     `json:"ownGoal"`
}

// GoalFacts are a goal as the audit has it.
type GoalFacts struct {
	EventID string `json:"eventId"`
	Moment
	Scored
}

// Goal is a goal.
type Goal struct {
	GameID string `json:"gameId"`
	GoalFacts
	Stamps
}

// marker claims an event's id.
type marker struct {
	GameID  string `json:"gameId"`
	EventID string `json:"eventId"`
	Stamps
}

// goalState is what other readers know of a game's goals, an export.
type goalState struct {
	GameID        string  `json:"gameId"`
	LatestEventID *string `json:"latestEventId"`
	LatestGoalSK  *string `json:"latestGoalSk"`
	Revision      int     `json:"revision"`
	Stamps
}

// The actions of the audit.
const (
	goalCreated = "goal_created"
	goalUpdated = "goal_updated"
	goalDeleted = "goal_deleted"
	goalUndone  = "goal_undo_last"
)

// Audit is one change of a goal, and who made it.
type Audit struct {
	AuditID     string     `json:"auditId"`
	GameID      string     `json:"gameId"`
	EventID     string     `json:"eventId"`
	ActorUserID string     `json:"actorUserId"`
	Action      string     `json:"action"`
	Before      *GoalFacts `json:"before"`
	After       *GoalFacts `json:"after"`
	Stamps
}

// operation notes a correction that had an Idempotency-Key, with what came of it.
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

// Access is a role of somebody in a league.
type Access struct {
	LeagueID        string `json:"leagueId"`
	UserID          string `json:"userId"`
	Role            string `json:"role"`
	GrantedByUserID string `json:"grantedByUserId"`
	Stamps
}

// Invite lets somebody become an admin of a league.
type Invite struct {
	LeagueID         string  `json:"leagueId"`
	InviteCode       string  `json:"inviteCode"`
	Kind             string  `json:"kind"` // share: reusable; email: one time, for one address
	Role             string  `json:"role"`
	Email            *string `json:"email"`
	CreatedByUserID  string  `json:"createdByUserId"`
	AcceptedByUserID *string `json:"acceptedByUserId"`
	AcceptedAt       *string `json:"acceptedAt"`
	Stamps
}

// sharePointer leads to the league's reusable invite.
type sharePointer struct {
	LeagueID   string `json:"leagueId"`
	InviteCode string `json:"inviteCode"`
	Stamps
}

// joinCode leads from a code to its game.
type joinCode struct {
	JoinCode string `json:"joinCode"`
	GameID   string `json:"gameId"`
	Stamps
}

// playerClaim says whose player somebody is.
type playerClaim struct {
	UserID   string `json:"userId"`
	PlayerID string `json:"playerId"`
	Stamps
}

// tombstone has a partition emptied. That of a game says what leads to it.
type tombstone struct {
	GameID      string `json:"gameId,omitempty"`
	SessionID   string `json:"sessionId,omitempty"`
	GameStartTs string `json:"gameStartTs,omitempty"` //nolint:staticcheck // as the rows spell it
	JoinCode    string `json:"joinCode,omitempty"`
	MadeAt      string `json:"madeAt,omitempty"`
	Stamps
}

// third returns a third of a game.
func (g *Game) third(n int) *Third {
	for i := range g.Thirds {
		if g.Thirds[i].Third == n {
			return &g.Thirds[i]
		}
	}
	return nil
}

// ThirdOf reads the number of a third.
func ThirdOf(text string) (n int, ok bool) {
	n = slices.Index([]string{"1", "2", "3"}, text) + 1
	return n, n > 0
}
