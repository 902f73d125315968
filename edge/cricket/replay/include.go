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
	incBalls
	incBatting
	incBowling
	incScoreboards
	incLineup
	incToss
	incWinner
)

// includes returns the parts by name, all of them flat: a client that needs the names of players finds them in the line-up.
// A ball always embeds striker, bowler, score and team.
func includes() map[string]include {
	return map[string]include{
		"localteam": incLocal, "visitorteam": incVisitor, "league": incLeague, "season": incSeason,
		"stage": incStage, "venue": incVenue, "lineup": incLineup, "runs": incRuns, "balls": incBalls,
		"batting": incBatting, "bowling": incBowling, "scoreboards": incScoreboards,
		"tosswon": incToss, "winnerteam": incWinner,
	}
}

// parseInclude parses "runs,balls,lineup". Like the feed, it ignores unknown names.
func parseInclude(s string) include {
	var set include
	known := includes()
	for name := range strings.SplitSeq(s, ",") {
		set |= known[strings.TrimSpace(name)]
	}
	return set
}

func (set include) has(part include) bool { return set&part != 0 }
