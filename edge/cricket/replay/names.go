package replay

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// idOf returns a stable id for something that the record knows only by name.
func idOf(kind, name string) int64 {
	h := fnv.New32a()
	h.Write([]byte(kind + "\x00" + name))
	return 1000 + int64(h.Sum32()%9_000_000)
}

// playerID derives the id from the record's registry, so that a player has the same id in every match.
func playerID(p *recording.Player) int64 {
	n, _ := strconv.ParseUint(p.Registry, 16, 32) // checked when the record was read
	return 1000 + int64(n%9_000_000)
}

// splitName splits "BA Stokes" into first and last name.
func splitName(full string) (first, last string) {
	if first, last, ok := strings.Cut(full, " "); ok {
		return first, last
	}
	return "", full
}

// initials shortens a name to the capitals and digits of its words: "Big Bash League" is BBL.
func initials(name string) string {
	var b strings.Builder
	for w := range strings.FieldsSeq(name) {
		switch w {
		case "ICC", "The", "the", "of", "and", "in", "tour":
			continue
		}
		r := []rune(w)[0]
		if unicode.IsUpper(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// teamCode returns the usual abbreviation of a team.
func teamCode(name string) string {
	if code := teamCodes()[name]; code != "" {
		return code
	}
	if code := initials(name); len(code) > 1 {
		return code
	}
	return strings.ToUpper(name[:min(3, len(name))])
}

func teamCodes() map[string]string {
	return map[string]string{
		"Afghanistan": "AFG", "Australia": "AUS", "Bahrain": "BRN", "Bangladesh": "BAN", "England": "ENG",
		"Ghana": "GHA", "India": "IND", "Ireland": "IRE", "Malawi": "MWI", "Netherlands": "NED", "New Zealand": "NZ",
		"Pakistan": "PAK", "Rwanda": "RWA", "Saudi Arabia": "KSA", "Scotland": "SCO", "South Africa": "SA",
		"Sri Lanka": "SL", "St Helena": "SHN", "West Indies": "WI", "Zimbabwe": "ZIM",
		"Deccan Chargers": "DC", "Delhi Daredevils": "DD", "Kings XI Punjab": "KXIP", "Mumbai Indians": "MI",
		"Rajasthan Royals": "RR", "Sunrisers Hyderabad": "SRH", "Hobart Hurricanes": "HBH", "Melbourne Renegades": "MLR",
		"Melbourne Stars": "MLS", "Sydney Sixers": "SYS", "Chattogram Challengers": "CCH", "Cumilla Warriors": "CUW",
		"Dhaka Dominators": "DD", "Sylhet Strikers": "SYL", "St Kitts and Nevis Patriots": "SKNP",
		"Trinbago Knight Riders": "TKR", "Manchester Originals": "MO", "Oval Invincibles": "OI", "Southern Brave": "SB",
		"Central Sparks": "CES", "Thunder": "THU", "Cape Cobras": "CC", "Knights": "KNI", "Gloucestershire": "GLO",
		"Hampshire": "HAM", "Haryana": "HAR", "Kent": "KEN", "Lancashire": "LAN", "Leicestershire": "LEI", "Mumbai": "MUM",
		"Surrey": "SUR", "Sussex": "SUS", "Warwickshire": "WAR", "Yorkshire": "YOR",
	}
}

// feedType returns the feed's name for the type of match.
func feedType(t *recording.Match) string {
	switch {
	case t.BallsPerOver == 5:
		return "100-Ball"
	case t.Type == "ODM":
		return "List A"
	case t.Type == "Test":
		return "Test/5day"
	case t.Type == "MDM":
		return "4day"
	case t.Type == "T20" && t.Sides == "international", t.Type == "IT20":
		return "T20I"
	default:
		return t.Type
	}
}

// scheduledOvers returns the scheduled overs per innings, 0 in multi-day matches. One T20's record says 50.
func scheduledOvers(t *recording.Match) int {
	if t.Type == "T20" || t.Type == "IT20" {
		return 20
	}
	return t.Overs
}

// competition returns the league under which the feed would list the match: a tour is a stage of its format's league, and so is a match
// whose record has no event.
func competition(t *recording.Match) (league, code, stage string) {
	stage = t.Event.Stage
	if stage == "" && t.Event.Group != "" {
		stage = "Group " + t.Event.Group
	}
	if t.Event.Name != "" && !strings.Contains(t.Event.Name, " tour of ") {
		if stage == "" {
			stage = t.Event.Name
		}
		return t.Event.Name, initials(t.Event.Name), stage
	}
	switch t.Type {
	case "Test":
		league, code = "Test Series", "TEST"
	case "ODI":
		league, code = "One Day International", "ODI"
	case "MDM":
		league, code = "First Class", "FC"
	case "ODM":
		league, code = "List A", "LISTA"
	default:
		league, code = "Twenty20 International", "T20I"
	}
	return league, code, cmp.Or(t.Event.Name, stage, league)
}

// round returns the feed's name of the match within its event.
func round(t *recording.Match) string {
	switch {
	case t.Event.Number == 0:
		return t.Event.Stage
	case strings.Contains(t.Event.Name, " tour of "):
		return ordinal(t.Event.Number) + " " + strings.TrimSuffix(feedType(t), "/5day")
	default:
		return ordinal(t.Event.Number) + " Match"
	}
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
