package tables

import "github.com/touchline/touchline/store"

// Names of the tables, as in DynamoDB; a prefix comes from the configuration.
const (
	Fixtures       = "cricket-fixtures"
	ActiveMatches  = "active-matches"
	LiveActivities = "live-activities"
	Devices        = "cricket-devices"
	Follows        = "cricket-match-follows"
	Locks          = "cricket-locks"
	Display        = "DisplayStateCache"
	Events         = "cricket-events"
	Teams          = "cricket-teams"
	TeamSeasons    = "cricket-team-seasons"
	Leagues        = "cricket-leagues"
	FixtureCache   = "cricket-fixture-cache"
)

// PushState is the node's own table: the state of the push coordinator between processes. Its name is one that
// no application would choose.
const PushState = "touchline-push-state"

// DeviceTokens is the node's own table: the owner of each token of a phone.
const DeviceTokens = "touchline-device-tokens"

func str(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }

func key(partition string) store.KeySpec { return store.KeySpec{Partition: str(partition)} }

func key2(partition, sort string) store.KeySpec {
	return store.KeySpec{Partition: str(partition), Sort: str(sort)}
}

// matchLock is the lock whose fence a match's rows carry, for store.TableSpec: MatchLock of the row's match.
const matchLock = "match:{matchId}"

// All declares cricket's tables and how each table's writes are sent to the cloud.
func All() []store.TableSpec {
	return append(matchTables(), referenceTables()...)
}

// referenceTables are filled from the feed even if no match is on.
func referenceTables() []store.TableSpec {
	return []store.TableSpec{
		{
			Name: Teams, Key: key("teamId"),
			Policy: store.PolicyIntent, Why: "the sync and admins update fields of one row, each its own",
		},
		{
			Name: TeamSeasons, Key: key2("seasonId", "teamId"),
			Policy: store.PolicyIntent, Why: "counted from matches and the feed, on condition that nobody has changed the row meanwhile",
		},
		{
			Name: Leagues, Key: key("leagueId"),
			Policy: store.PolicyIntent, Why: "the sync and admins update fields of one row, each its own",
		},
		{
			Name: FixtureCache, Key: key("matchId"), TTL: "ttl",
			Indexes: []store.IndexSpec{{Name: "leagueId-startingAt-index", Key: key2("leagueId", "startingAt")}},
			Policy:  store.PolicyState, Lock: matchLock,
			Why: "derived, and rewritten at each change of a reply: only the newest is worth sending, and only the holder's",
		},
	}
}

// matchTables belong to matches and their followers.
func matchTables() []store.TableSpec {
	return []store.TableSpec{
		{
			Name: Fixtures, Key: key("matchId"),
			Indexes: []store.IndexSpec{{Name: "leagueCode-startTime-index", Key: key2("leagueCode", "startTime")}},
			Policy:  store.PolicyIntent,
			Why:     "ticks, the sync and admins update attributes of one row, each its own; those of a tick by a condition of their own",
		},
		{
			Name: ActiveMatches, Key: key("matchId"), TTL: "ttl",
			Policy: store.PolicyState, Lock: matchLock,
			Why: "derived, and rewritten whole every tick by the one holder of the match's lease: only the newest is worth sending",
		},
		{
			Name: LiveActivities, Key: key2("matchId", "userId#deviceId"), TTL: "ttl",
			Indexes: []store.IndexSpec{{Name: "userId-index", Key: key("userId")}},
			Policy:  store.PolicyIntent, Why: "user data: a session is started, rotated and ended by conditions",
		},
		{
			Name: Devices, Key: key2("userId", "deviceToken"), TTL: "ttl",
			Policy: store.PolicyNewest, Why: "the newest registration of a device is the true one, wherever it was made",
		},
		{
			Name: Follows, Key: key2("matchId", "userId"), TTL: "expiresAt",
			Policy: store.PolicyIntent, Why: "user data: the first follow wins, an unfollow ends that follow and no later one",
		},
		{
			Name: Locks, Key: key("lockKey"),
			Policy: store.PolicyLock, Why: "leases are decided where all nodes see them; never expired by TTL",
		},
		{
			Name: Display, Key: key("cacheKey"), TTL: "ttl",
			Policy: store.PolicyLocal, Why: "each node makes it from its own readings, or from the state that another has sent",
		},
		{
			Name: Events, Key: key2("matchId", "eventKey"), TTL: "ttl",
			Policy: store.PolicyIntent, Lock: matchLock,
			Why: "the creation of an event's row is the claim of its alert: one of two that create it wins, the other learns it. " +
				"A state is sent after the events of its match and fence",
		},
		{
			Name: PushState, Key: key("stateKey"), TTL: "ttl", Internal: true,
			Policy: store.PolicyLocal, Why: "what Apple knows this node by, and how far this node's pushing is with each match",
		},
		{
			Name: DeviceTokens, Key: key("token"), TTL: "ttl", Internal: true,
			Policy: store.PolicyLocal, Why: "an index of the devices and activities that this node's routes have registered",
		},
	}
}
