package threefc

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

const (
	skMeta    = "METADATA"
	skProfile = "PROFILE"
	skState   = "GOAL_STATE"
	skShare   = "INVITE#ORGANISER_SHARE"
	skDeleted = "DELETED" // marks a partition that is being emptied

	pkLeague  = "LEAGUE#"
	pkSeason  = "SEASON#"
	pkSession = "SESSION#"
	pkGame    = "GAME#"
	pkPlayer  = "PLAYER#"
	pkUser    = "USER#"
	pkJoin    = "JOIN_CODE#"
	pkInvite  = "LEAGUE_INVITE#"
	pkOnce    = "IDEMPOTENCY#"
	pkMagic   = "AUTH_MAGIC#"
	pkSignIn  = "AUTH_SESSION#"
	pkCode    = "AUTH_CODE#"
	pkSlug    = "LEAGUE_SLUG#" // leads to the leagues with a slug

	skTeam   = "TEAM#"
	skRoster = "ROSTER#"
	skGoal   = "GOAL#" // not a prefix of GOAL_EVENT# or GOAL_STATE
	skMarker = "GOAL_EVENT#"
	skAudit  = "AUDIT#GOAL#"

	skOperation = "GOAL_CORRECTION#"
	skUndone    = "GOAL_UNDONE#"
	skGone      = "GOAL_GONE#"
	skLeagues   = "LEAGUES"
	skACL       = "ACL#USER#"
)

func key(pk, sk string) attr.Item { return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)} }

func leagueKey(league string) attr.Item           { return key(pkLeague+league, skMeta) }
func seasonKey(league, season string) attr.Item   { return key(pkLeague+league, pkSeason+season) }
func seasonMirror(season string) attr.Item        { return key(pkSeason+season, skMeta) }
func seasonTeamKey(season, team string) attr.Item { return key(pkSeason+season, skTeam+team) }
func sessionKey(season, session string) attr.Item { return key(pkSeason+season, pkSession+session) }
func sessionMirror(session string) attr.Item      { return key(pkSession+session, skMeta) }
func gameKey(game string) attr.Item               { return key(pkGame+game, skMeta) }
func gameTeamKey(game, team string) attr.Item     { return key(pkGame+game, skTeam+team) }
func gamePlayerKey(game, player string) attr.Item { return key(pkGame+game, pkPlayer+player) }
func markerKey(game, event string) attr.Item      { return key(pkGame+game, skMarker+event) }
func stateKey(game string) attr.Item              { return key(pkGame+game, skState) }
func aclKey(league, user string) attr.Item        { return key(pkLeague+league, skACL+user) }
func playerKey(player string) attr.Item           { return key(pkPlayer+player, skProfile) }
func claimKey(user, player string) attr.Item      { return key(pkUser+user, pkPlayer+player) }
func shareKey(league string) attr.Item            { return key(pkLeague+league, skShare) }
func codeKey(code string) attr.Item               { return key(pkCode+hashText(code), skMeta) }
func deletedKey(pk string) attr.Item              { return key(pk, skDeleted) }

func sessionGameKey(session, start, game string) attr.Item {
	return key(pkSession+session, pkGame+start+"#"+game)
}

// gameOfEntry returns the game of an entry in a session, by the entry's sort key.
func gameOfEntry(sk string) string { return sk[strings.LastIndex(sk, "#")+1:] }

func rosterKey(game, team, player string) attr.Item {
	return key(pkGame+game, skRoster+team+"#"+player)
}
func goalKey(game string, third, minute int, event string) attr.Item {
	return key(pkGame+game, fmt.Sprintf("%s%d#%04d#%s", skGoal, third, minute, event))
}
func operationKey(game, operation string) attr.Item {
	return key(pkGame+game, skOperation+operation)
}
func auditKey(game, at, audit string) attr.Item { return key(pkGame+game, skAudit+at+"#"+audit) }

func slugKey(slug string) attr.Item          { return key(pkSlug+slug, skLeagues) }
func undoneKey(game, event string) attr.Item { return key(pkGame+game, skUndone+event) }
func goneKey(game, event string) attr.Item   { return key(pkGame+game, skGone+tapOf(event)) }

// SignInKey returns the key of a sign-in session.
func SignInKey(session string) attr.Item { return key(pkSignIn+session, skMeta) }

// JoinKey returns the key of a join code.
func JoinKey(code string) attr.Item { return key(pkJoin+code, skMeta) }

// InviteKey returns the key of an invite.
func InviteKey(code string) attr.Item { return key(pkInvite+code, skMeta) }

// MagicKey returns the key of a magic-link token, by its id.
func MagicKey(token string) attr.Item { return key(pkMagic+token, skMeta) }

// userSessionKey returns the key of the row by which a user finds one of their sessions.
func userSessionKey(email, session string) attr.Item { return key(pkUser+email, pkSession+session) }

// UserKey returns the key of any row in a user's partition.
func UserKey(email string) attr.Item { return userSessionKey(email, "") }

// OnceKey returns the key of the row that records the first use of an Idempotency-Key.
func OnceKey(scope, once string) attr.Item { return key(pkOnce+scope+"#"+once, skMeta) }

// GameOf returns the game whose partition a key is in, or "".
func GameOf(k attr.Item) string {
	if game, ok := strings.CutPrefix(k["pk"].Str(), pkGame); ok {
		return game
	}
	return ""
}

// filed maps the first parts of a row's two keys to its entityType, for rows that a season's file may hold.
var filed = map[string]string{
	pkLeague + pkSeason: "season", pkSeason + skMeta: "season", pkSeason + skTeam: "team", pkSeason + pkSession: "session",
	pkSession + skMeta: "session", pkSession + pkGame: "sessionGame", pkGame + skMeta: "game", pkGame + skTeam: "gameTeam",
	pkGame + pkPlayer: "gamePlayer", pkGame + skRoster: "roster", pkGame + skGoal: "goal", pkGame + skMarker: "goalEventId",
	pkPlayer + skProfile: "player", pkJoin + skMeta: "gameJoinCode",
}

// unfiled maps them for the other rows, except for tombstones.
var unfiled = map[string]string{
	pkLeague + skMeta: "league", pkLeague + "ACL#": "acl", pkLeague + "INVITE#": "inviteShare", pkInvite + skMeta: "leagueInvite",
	pkUser + pkPlayer: "playerClaim", pkUser + pkSession: "userSession", pkGame + skState: "goalState", pkGame + "AUDIT#": "goalAudit", pkGame + skOperation: "goalCorrectionOperation", pkGame + skUndone: "goalUndone", pkGame + skGone: "goalGone",
	pkMagic + skMeta: "magicToken", pkSignIn + skMeta: "session", pkCode + skMeta: "signInCode", pkOnce + skMeta: "idempotency", pkSlug + skLeagues: "leagueSlug",
}

// kind returns the first parts of a row's two keys.
func kind(pk, sk string) string {
	first := func(k string) string { return k[:cmp.Or(strings.Index(k, "#")+1, len(k))] }
	return first(pk) + first(sk)
}

// entityOf returns the entityType of the rows with a key, or with keys that begin so.
func entityOf(k attr.Item) string {
	if k["sk"].Str() == skDeleted {
		return "deleted"
	}
	of := kind(k["pk"].Str(), k["sk"].Str())
	return cmp.Or(filed[of], unfiled[of])
}

// nameOf returns the name for people of the kind of row with a key.
func nameOf(k attr.Item) string {
	words := map[string]string{
		"acl": "role in a league", "gameJoinCode": "join code", "gamePlayer": "player of a game", "gameTeam": "team of a game", "goalAudit": "change of a goal",
		"goalCorrectionOperation": "correction of a goal", "goalEventId": "mark of a goal", "goalState": "summary of a game's goals", "goalUndone": "note of a goal that was taken back", "goalGone": "mark of a goal that was taken back", "inviteShare": "invite",
		"leagueInvite": "invite", "leagueSlug": "address of a league", "playerClaim": "claim of a player", "userSession": "session of a user", "roster": "place in a team", "sessionGame": "entry of a session",
	}
	return cmp.Or(words[entityOf(k)], entityOf(k))
}

// maxID is the maximum length of an id, in bytes.
const maxID = 128

// IsID reports whether id is valid. It may not contain #, which separates the parts of a key.
func IsID(id string) bool {
	bad := strings.ContainsFunc(id, func(r rune) bool { return r == '#' || r < ' ' || r == 0x7f })
	return id != "" && len(id) <= maxID && !bad
}

// stamp is the layout of times in rows: UTC with milliseconds.
const stamp = "2006-01-02T15:04:05.000Z"

func stampOf(t time.Time) string { return t.UTC().Format(stamp) }

// NormalTime converts an RFC 3339 time to the format of the rows.
func NormalTime(text string) (at string, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	return stampOf(t), err == nil && t.UTC().Year() > 0 && t.UTC().Year() < 10000
}

func parseTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// alphabet holds the characters of codes. People read them aloud, so I, O, 0 and 1 are left out.
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

const codeLength = 8

// newCode returns a random code of 8 characters, 40 bits. The alphabet has 32 characters, so all are equally likely.
func newCode() string {
	raw := make([]byte, codeLength)
	_, _ = rand.Read(raw) // never fails: crypto/rand
	for i := range raw {
		raw[i] = alphabet[int(raw[i])%len(alphabet)]
	}
	return string(raw)
}

// CodeOf normalizes a code as typed by a person: it trims spaces and ignores case. It reports whether the result can be a code.
func CodeOf(text string) (code string, ok bool) {
	code = strings.ToUpper(strings.TrimSpace(text))
	return code, len(code) == codeLength && strings.Trim(code, alphabet) == ""
}

// IDs generates the ids of the records that a request creates. With a seed, which combines user, route and Idempotency-Key, every node
// that the request reaches generates the same ids; without one they are random.
type IDs struct {
	Seed string // scope and Idempotency-Key, on two lines
	Hash string // request hash; set with Seed
	n    int
}

// New returns a ULID for an instant. Without a seed, ULIDs of one millisecond increase in order of creation.
func (i *IDs) New(at time.Time) string {
	if i == nil || i.Seed == "" {
		if id, err := ulid.New(ulid.Timestamp(at), ulid.DefaultEntropy()); err == nil {
			return id.String()
		}
		return ulid.Make().String() // the millisecond's ULIDs are exhausted
	}
	i.n++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", i.Seed, i.n))
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at)) // fails after the year 10889
	_ = id.SetEntropy(sum[:10])        // has ten bytes
	return id.String()
}

// Goal returns the id of a goal that was tapped at an instant. Goals sort by their ids: with an Idempotency-Key by the instant, then by what the
// key begins with, which is the time in a ULID, so that a device's taps stay in order. The rest of the id tells requests apart. Nodes that
// take the same key while they are apart give its goal ids that differ in their instant alone: see tapOf.
func (i *IDs) Goal(at time.Time) string {
	if i == nil || i.Seed == "" {
		return i.New(at)
	}
	i.n++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", i.Seed, i.n))
	once := i.Seed[strings.LastIndex(i.Seed, "\n")+1:]
	var id, of ulid.ULID
	copy(of[:6], once)
	if made, err := ulid.ParseStrict(once); err == nil {
		of = made
	}
	_ = id.SetTime(ulid.Timestamp(at)) // fails after the year 10889
	copy(id[6:], of[:6])
	copy(id[12:], sum[:])
	return id.String()
}

// instantLength is how many characters of an id of ours hold its instant.
const instantLength = 10

// tapOf returns the part of a goal's id that all nodes give it that take its Idempotency-Key; of an id that is none of ours, the whole.
func tapOf(event string) string {
	if _, err := ulid.ParseStrict(event); err != nil {
		return event
	}
	return event[instantLength:]
}

// tappedAt returns the instant in a goal's id; zero if the id is none of ours.
func tappedAt(event string) time.Time {
	id, err := ulid.ParseStrict(event)
	if err != nil {
		return time.Time{}
	}
	return id.Timestamp().UTC()
}

// operation returns the id of a correction, derived as in the original system, or "" if the request has no Idempotency-Key.
func (i *IDs) operation() string {
	if i == nil || i.Seed == "" {
		return ""
	}
	return "goal-correction-idem-" + hashText(strings.Replace(i.Seed, "\n", ":", 1))[:32]
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func invalid(code, format string, args ...any) error {
	return fault.New(fault.Invalid, code, format, args...)
}

func conflict(code, format string, args ...any) error {
	return fault.New(fault.Conflict, code, format, args...)
}

func notFound(code, format string, args ...any) error {
	return fault.New(fault.NotFound, code, format, args...)
}
