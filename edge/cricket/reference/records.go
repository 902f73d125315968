package reference

import "time"

// Records of the reference tables: leagues, teams, and the teams of a season. Ids are the feed's numbers as
// text, because they are keys. The other attributes are ours: the application's documents name none.

// LeagueRecord is a row of cricket-leagues.
type LeagueRecord struct {
	LeagueID  string    `dynamodbav:"leagueId" json:"id"`
	Name      string    `dynamodbav:"name" json:"name"`
	Code      string    `dynamodbav:"code,omitempty" json:"code,omitempty"`
	Type      string    `dynamodbav:"type,omitempty" json:"type,omitempty"` // the feed's: league, phase, ...
	ImagePath string    `dynamodbav:"imagePath,omitempty" json:"imagePath,omitempty"`
	CountryID string    `dynamodbav:"countryId,omitempty" json:"countryId,omitempty"`
	SeasonID  string    `dynamodbav:"seasonId,omitempty" json:"seasonId,omitempty"`  // the running season
	UpdatedAt time.Time `dynamodbav:"updatedAt,omitempty" json:"updatedAt,omitzero"` // the feed's stamp

	// Active leagues are synced and polled. The marquee league, at most one, is polled most closely. Neither flag comes from the feed.
	Active  bool `dynamodbav:"active" json:"active"`
	Marquee bool `dynamodbav:"marquee" json:"marquee"`
	// AdminFields are the attributes that an admin has set: the sync keeps them.
	AdminFields []string `dynamodbav:"adminFields,omitempty" json:"adminFields,omitempty"`
}

// TeamRecord is a row of cricket-teams.
type TeamRecord struct {
	TeamID       string    `dynamodbav:"teamId" json:"id"`
	Name         string    `dynamodbav:"name" json:"name"`
	Code         string    `dynamodbav:"code,omitempty" json:"code,omitempty"` // ENG
	ImagePath    string    `dynamodbav:"imagePath,omitempty" json:"imagePath,omitempty"`
	CountryID    string    `dynamodbav:"countryId,omitempty" json:"countryId,omitempty"`
	NationalTeam bool      `dynamodbav:"nationalTeam,omitempty" json:"nationalTeam,omitempty"`
	UpdatedAt    time.Time `dynamodbav:"updatedAt,omitempty" json:"updatedAt,omitzero"`
	// AdminFields are the attributes that an admin has set: the sync keeps them.
	AdminFields []string `dynamodbav:"adminFields,omitempty" json:"adminFields,omitempty"`
}

// TeamSeasonRecord is a row of cricket-team-seasons: a team in one season of a league, its squad, and its
// results in the matches that this node has seen.
type TeamSeasonRecord struct {
	SeasonID   string        `dynamodbav:"seasonId" json:"seasonId"`
	TeamID     string        `dynamodbav:"teamId" json:"teamId"`
	LeagueID   string        `dynamodbav:"leagueId,omitempty" json:"leagueId,omitempty"`
	SeasonName string        `dynamodbav:"seasonName,omitempty" json:"season,omitempty"` // 2026
	Name       string        `dynamodbav:"name,omitempty" json:"name,omitempty"`         // of the team
	Code       string        `dynamodbav:"code,omitempty" json:"code,omitempty"`
	Squad      []SquadPlayer `dynamodbav:"squad,omitempty" json:"squad,omitempty"`
	Played     int           `dynamodbav:"played" json:"played"`
	Won        int           `dynamodbav:"won" json:"won"`
	Lost       int           `dynamodbav:"lost" json:"lost"`
	Undecided  int           `dynamodbav:"undecided" json:"undecided"` // ties, draws and matches without a result
	UpdatedAt  time.Time     `dynamodbav:"updatedAt,omitempty" json:"updatedAt,omitzero"`
}

// SquadPlayer is a member of a squad.
type SquadPlayer struct {
	ID           string `dynamodbav:"id" json:"id"`
	Name         string `dynamodbav:"name" json:"name"`
	Position     string `dynamodbav:"position,omitempty" json:"position,omitempty"` // Bowler
	BattingStyle string `dynamodbav:"battingStyle,omitempty" json:"battingStyle,omitempty"`
	BowlingStyle string `dynamodbav:"bowlingStyle,omitempty" json:"bowlingStyle,omitempty"`
}

// SeasonRecord is a season in the feed's list. It has no table: seasons are known by their teams.
type SeasonRecord struct {
	SeasonID string
	LeagueID string
	Name     string // 2026
	Code     string
}
