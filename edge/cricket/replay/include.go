package replay

import "strings"

// include is a set of the requested parts.
type include uint64

const (
	incLocal include = 1 << iota
	incVisitor
	incLeague
	incSeason
	incStage
	incVenue
	incRuns
	incRunsTeam
	incBalls
	incBatting
	incBattingBatsman
	incBattingBowler
	incBattingCatch
	incBattingOut
	incBattingRunOut
	incBattingResult
	incBattingTeam
	incBowling
	incBowlingBowler
	incBowlingTeam
	incScoreboards
	incScoreboardsTeam
	incLineup
	incFirstUmpire
	incSecondUmpire
	incTVUmpire
	incReferee
	incManOfMatch
	incManOfSeries
	incToss
	incWinner
)

// includes returns the parts by name. A ball always embeds striker, bowler, score and team, so these are not separate parts.
func includes() map[string]include {
	return map[string]include{
		"localteam": incLocal, "visitorteam": incVisitor, "league": incLeague, "season": incSeason,
		"stage": incStage, "venue": incVenue, "lineup": incLineup,
		"runs": incRuns, "runs.team": incRuns | incRunsTeam,
		"balls": incBalls, "balls.score": incBalls, "balls.batsman": incBalls, "balls.bowler": incBalls,
		"balls.team": incBalls,
		"batting":    incBatting, "batting.batsman": incBatting | incBattingBatsman,
		"batting.bowler": incBatting | incBattingBowler, "batting.catchstump": incBatting | incBattingCatch,
		"batting.batsmanout": incBatting | incBattingOut, "batting.runoutby": incBatting | incBattingRunOut,
		"batting.result": incBatting | incBattingResult, "batting.team": incBatting | incBattingTeam,
		"bowling": incBowling, "bowling.bowler": incBowling | incBowlingBowler,
		"bowling.team": incBowling | incBowlingTeam,
		"scoreboards":  incScoreboards, "scoreboards.team": incScoreboards | incScoreboardsTeam,
		"firstumpire": incFirstUmpire, "secondumpire": incSecondUmpire, "tvumpire": incTVUmpire,
		"referee": incReferee, "manofmatch": incManOfMatch, "manofseries": incManOfSeries,
		"tosswon": incToss, "winnerteam": incWinner,
	}
}

// parseInclude parses "runs,balls,batting.batsman". Like the feed, it ignores unknown names.
func parseInclude(s string) include {
	var set include
	known := includes()
	for name := range strings.SplitSeq(s, ",") {
		set |= known[strings.TrimSpace(name)]
	}
	return set
}

func (set include) has(part include) bool { return set&part != 0 }
