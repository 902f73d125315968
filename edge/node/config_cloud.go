package node

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/internal/strictyaml"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/flow"
)

// CloudConfig is the DynamoDB, or compatible server, with which the node replicates. It is enabled by region. Access keys are not part
// of it: they are found as by every AWS tool (environment, profile, role).
type CloudConfig struct {
	Endpoint     string `yaml:"endpoint"` // URL; empty: AWS's endpoint for the region
	Region       string `yaml:"region"`   // your own server accepts any word; empty: no cloud
	Profile      string `yaml:"profile"`  // profile in the AWS files; empty: AWS_PROFILE or the default
	Prefix       string `yaml:"prefix"`   // prefix of all table names in the cloud
	SyncTable    string `yaml:"sync_table"`
	Offline      string `yaml:"offline"`      // behaviour while the cloud is unreachable: strict or observe
	Transactions string `yaml:"transactions"` // whether the cloud supports transactions: auto, on or off

	Deadline time.Duration     `yaml:"deadline"`  // timeout of one request
	LeaseTTL time.Duration     `yaml:"lease_ttl"` // how long a lock lasts without renewal
	Poll     CloudPollConfig   `yaml:"poll"`
	Budget   CloudBudgetConfig `yaml:"budget"`
}

// CloudPollConfig is how often the node polls for writes of others.
type CloudPollConfig struct {
	Tables time.Duration `yaml:"tables"` // small tables, read whole: leagues, teams, current matches
	Live   time.Duration `yaml:"live"`   // data of matches whose lease this node holds
}

// CloudBudgetConfig limits the outbox of writes that wait for the cloud (Age: warn a person about older ones), and the log of sent
// writes that are kept for a replay.
type CloudBudgetConfig struct {
	Megabytes int           `yaml:"megabytes"`
	Entries   int           `yaml:"entries"`
	Age       time.Duration `yaml:"age"`
	ReplayMB  int           `yaml:"replay_megabytes"`
	ReplayAge time.Duration `yaml:"replay_age"`
}

// What a node does while the cloud is unreachable.
const (
	offlineStrict  = "strict"  // stop polling the feed for matches whose lease expired
	offlineObserve = "observe" // keep polling the feed for local readers; push nothing and write no shared state
)

// DefaultCloud returns the defaults.
func DefaultCloud() CloudConfig {
	return CloudConfig{
		SyncTable: "touchline-sync", Offline: offlineObserve, Transactions: "auto",
		Deadline: 10 * time.Second, LeaseTTL: lease.DefaultTTL,
		Poll: CloudPollConfig{Tables: 30 * time.Second, Live: 5 * time.Second},
		Budget: CloudBudgetConfig{
			Megabytes: 2048, Entries: 5_000_000, Age: 14 * 24 * time.Hour, ReplayMB: 256, ReplayAge: 72 * time.Hour,
		},
	}
}

// IsConfigured reports whether the node has a cloud.
func (c *CloudConfig) IsConfigured() bool { return c.Region != "" || c.Endpoint != "" }

// Name returns a name of the cloud for people: the region and the client's endpoint.
func (c *CloudConfig) Name(client *dynamo.Client) string {
	return c.Region + " (" + client.Endpoint() + ")"
}

// transactions returns the setting for the replicator; nil: detect it.
func (c *CloudConfig) transactions() *bool {
	if c.Transactions == "auto" {
		return nil
	}
	return new(c.Transactions == "on")
}

// budget returns the section in the replicator's units.
func (c *CloudBudgetConfig) budget() flow.Budget {
	return flow.Budget{
		Bytes: int64(c.Megabytes) << 20, Entries: int64(c.Entries), Age: c.Age, ReplayBytes: int64(c.ReplayMB) << 20, ReplayAge: c.ReplayAge,
	}
}

var (
	regionName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?$`)
	tableName  = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)
	tablePart  = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,100}$`)
)

// Problems returns the errors in the section. tables are the node's tables.
func (c *CloudConfig) Problems(tables []store.TableSpec) (out []app.Problem) {
	bad := strictyaml.AddTo(&out, "cloud.")
	if c.Endpoint != "" {
		if err := cloudURL(c.Endpoint); err != "" {
			bad("endpoint", "%s", err)
		}
	}
	switch {
	case c.Region == "" && (c.Endpoint != "" || c.Profile != "" || c.Prefix != ""):
		bad("region", "must be set to use a cloud, such as eu-west-1; for a server of your own any word will do")
	case c.Region != "" && !regionName.MatchString(c.Region):
		bad("region", "must be the name of a region, such as eu-west-1, not %q", c.Region)
	}
	if !tablePart.MatchString(c.Prefix) {
		bad("prefix", "must be up to 100 letters, digits, dots, hyphens and underscores: table names allow nothing else")
	}
	switch {
	case !tableName.MatchString(c.SyncTable):
		bad("sync_table", "must be the name of a table: 3 to 255 letters, digits, dots, hyphens and underscores")
	case slices.ContainsFunc(tables, func(t store.TableSpec) bool { return t.Name == c.SyncTable }):
		bad("sync_table", "must be a table of its own, but %s is in use; the default is touchline-sync", c.SyncTable)
	}
	if c.Offline != offlineStrict && c.Offline != offlineObserve {
		bad("offline", "must be strict or observe, not %q", c.Offline)
	}
	switch c.Transactions {
	case "auto", "on", "off":
	default:
		bad("transactions", "must be auto, on or off, not %q", c.Transactions)
	}
	c.timeProblems(bad)
	c.Budget.problems(bad)
	return out
}

// timeProblems calls bad for each invalid duration.
func (c *CloudConfig) timeProblems(bad func(key, format string, args ...any)) {
	for _, d := range []struct {
		key       string
		v         time.Duration
		low, high time.Duration
	}{
		{"deadline", c.Deadline, time.Second, time.Minute},
		{"lease_ttl", c.LeaseTTL, 3 * time.Second, 5 * time.Minute},
		{"poll.tables", c.Poll.Tables, time.Second, time.Hour},
		{"poll.live", c.Poll.Live, time.Second, 10 * time.Minute},
		{"budget.age", c.Budget.Age, time.Hour, 365 * 24 * time.Hour},
		{"budget.replay_age", c.Budget.ReplayAge, 0, 35 * 24 * time.Hour},
	} {
		if d.v < d.low || d.v > d.high {
			bad(d.key, "must be from %s to %s, not %s", d.low, d.high, d.v)
		}
	}
}

// mostBudget is more than any node needs, and its size in bytes still fits an int64.
const mostBudget = 1_000_000_000

func (c *CloudBudgetConfig) problems(bad func(key, format string, args ...any)) {
	for _, n := range []struct {
		key    string
		v, low int
	}{{"megabytes", c.Megabytes, 16}, {"entries", c.Entries, 1000}, {"replay_megabytes", c.ReplayMB, 1}} {
		switch {
		case n.v < n.low:
			bad("budget."+n.key, "must be at least %d, not %d", n.low, n.v)
		case n.v > mostBudget:
			bad("budget."+n.key, "must be at most %d, not %d", mostBudget, n.v)
		}
	}
}

// cloudURL returns what is wrong with the URL of a cloud; empty: nothing. Requests are signed but not encrypted, so plain HTTP is
// allowed only to this machine and within a private network.
func cloudURL(raw string) string {
	if app.SecureURL(raw) == nil {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "must be a URL, such as http://127.0.0.1:8000"
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "must not contain a user, password or query: access keys come from the AWS environment or profile"
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.IsPrivate() {
		return ""
	}
	return "must be an https URL, or http on a loopback or private address"
}
