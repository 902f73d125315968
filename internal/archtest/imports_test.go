package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// arrows says which of our packages each package may import: the picture in docs/ARCHITECTURE.md as a table. "x/..." means x and
// everything below it, "..." everything; the first matching row counts. All packages may import the leaves. Tests may also import what
// their row adds, and the packages made for tests.
var arrows = []arrow{
	{pkg: "cmd/touchline", may: []string{"edge", "edge/app", "edge/node", "httpapi/admin", "httpapi/operator", "sync/replica/conflict"}, tests: []string{"edge/cricket/..."}},
	{
		pkg: "edge", may: []string{"edge/app", "edge/mail", "edge/node", builders, "httpapi/...", "migrations", "sync/...", "store/..."},
		tests: []string{"..."},
	},
	{pkg: "edge/mail", may: []string{"store", "store/attr"}, tests: []string{"migrations"}},
	{
		pkg: "edge/app",
		may: []string{"edge/mail", "httpapi", "httpapi/admin", "httpapi/auth", "httpapi/devlogin", "httpapi/page", "migrations", "sync/lease", "sync/replica/...", "store", "store/attr", "store/derived", "store/table"},
	},
	{pkg: "edge/node", may: []string{"edge/app", "edge/mail", "httpapi/...", "migrations", "sync/...", "store/..."}, tests: []string{builders, apps, "edge/cricket/..."}},
	{pkg: "edge/cricket/web/...", may: []string{"httpapi/...", "edge/cricket/...", "store", "store/attr", "sync/lease"}, tests: []string{"sync/replica/..."}},
	{pkg: webs, may: []string{"httpapi", "httpapi/presence", "httpapi/ask", "httpapi/auth", "httpapi/bind", "httpapi/handover", "httpapi/operator", "httpapi/page", "httpapi/sse", apps, "store", "store/attr", "store/idempotency", "sync/replica/conflict"}},
	{pkg: builders, may: []string{"edge/app", "edge/mail", "edge/node", apps, webs, "edge/cricket/...", "httpapi/...", "migrations", "sync/...", "store/..."}},

	// No row of httpapi names edge: it is the framework below the applications.
	{
		pkg: "httpapi", may: []string{"httpapi/ask", "httpapi/auth", "httpapi/bind", "httpapi/handover", "httpapi/operator", "httpapi/page", "httpapi/session", "httpapi/sse", "store", "store/attr", "store/idempotency", "sync/replica/conflict"},
		tests: []string{"httpapi/devlogin"},
	},
	{pkg: "httpapi/ask", may: []string{"store", "store/attr"}},
	{pkg: "httpapi/presence", may: []string{"store"}},
	{pkg: "httpapi/bind", may: []string{"store/attr"}},
	{pkg: "httpapi/sse", may: []string{"store"}},
	{pkg: "httpapi/page", may: []string{"httpapi/page/colour"}},
	{pkg: "httpapi/page/colour"},
	{pkg: "httpapi/page/simulation", tests: []string{"httpapi/page"}},
	{ // for what they measure
		pkg: "httpapi/operator", may: []string{"httpapi/page", "httpapi/dynamoapi/...", "store", "store/attr", "sync/replica/...", "sync/lease"},
	},
	{pkg: "httpapi/admin", may: []string{"httpapi", "httpapi/operator", "store", "sync/replica/conflict"}, tests: []string{"store/attr", "sync/replica"}},
	{pkg: "httpapi/auth", may: []string{"store"}},
	{pkg: "httpapi/devlogin", may: []string{"httpapi/auth"}},
	{pkg: "httpapi/handover", may: []string{"httpapi/bind", "store", "store/attr"}},
	{pkg: "httpapi/session", may: []string{"httpapi/auth", "store", "store/attr", "store/expr"}},
	{pkg: "httpapi/dynamoapi", may: []string{"httpapi/dynamoapi/...", "store", "store/expr", "store/attr"}},
	{pkg: "httpapi/dynamoapi/...", may: []string{"store/expr", "store/attr"}}, // its parts do not know the package itself or the store
	{pkg: "migrations", may: []string{"store", "store/attr"}},
	{pkg: "sync/dynamo", may: []string{"sync/replica/...", "sync/lease", "store", "store/expr", "store/attr"}},
	{pkg: "sync/replica", may: []string{"sync/replica/...", "store", "store/expr", "store/attr"}, tests: []string{"sync/lease", "sync/dynamo"}},
	{pkg: "sync/replica/simulation", tests: []string{"sync/...", "store", "store/expr", "store/attr"}},
	{pkg: "sync/replica/conflict", may: []string{"sync/replica/flow", "sync/replica/intent", "sync/replica/outbox", "store", "store/expr", "store/attr"}},
	{pkg: "sync/replica/backlog", may: []string{"sync/replica/conflict", "sync/replica/intent", "sync/replica/outbox", "store", "store/attr"}},
	{
		pkg: "sync/replica/feed", may: []string{"sync/replica/flow", "sync/replica/intent", "sync/replica/outbox", "sync/replica/remote", "store", "store/expr", "store/attr"},
	},
	{
		pkg: "sync/replica/identity", may: []string{"sync/replica/flow", "sync/replica/intent", "sync/replica/outbox", "sync/replica/remote", "store", "store/expr", "store/attr"},
	},
	{
		pkg: "sync/replica/restore",
		may: []string{"sync/replica/flow", "sync/replica/identity", "sync/replica/intent", "sync/replica/outbox", "sync/replica/remote", "store", "store/attr"},
	},
	{pkg: "sync/replica/outbox", may: []string{"sync/replica/intent", "store", "store/expr", "store/attr"}},
	{pkg: "sync/replica/flow", may: []string{"sync/replica/intent", "store"}},
	{pkg: "sync/replica/remote", may: []string{"sync/replica/intent", "store", "store/expr", "store/attr"}},
	{pkg: "sync/replica/intent", may: []string{"store", "store/expr", "store/attr"}}, // pure: nothing that waits or does I/O
	{pkg: "sync/lease", may: []string{"store", "store/attr", "store/expr"}, tests: []string{"sync/replica/intent"}},

	{pkg: "edge/cricket", tests: []string{"edge/cricket/...", "store/..."}}, // pure: the rules know no table
	{pkg: "edge/cricket/payload", may: []string{"edge/cricket"}},
	{pkg: "edge/cricket/tables", may: []string{"store", "store/expr", "store/attr", "store/table"}},
	{
		pkg: "edge/cricket/matches", may: []string{"edge/cricket", "edge/cricket/tables", "store", "store/expr", "store/attr"},
		tests: []string{"edge/cricket/phone", "edge/cricket/reference"},
	},
	{pkg: "edge/cricket/reference", may: []string{"edge/cricket", "edge/cricket/tables", "edge/cricket/matches", "store", "store/expr", "store/attr", "store/derived", "store/table"}},
	{pkg: "edge/cricket/phone", may: []string{"edge/cricket", "edge/cricket/tables", "edge/cricket/matches", "store", "store/expr", "store/attr"}},
	{
		pkg: "edge/cricket/poll",
		may: []string{
			"edge/cricket", "edge/cricket/tables", "edge/cricket/matches", "edge/cricket/reference", "edge/cricket/sportmonks", "sync/lease",
			"store", "store/attr", "store/derived",
		},
		tests: []string{"edge/cricket/phone", "edge/cricket/replay"},
	},
	{
		pkg: "edge/cricket/push",
		may: []string{
			"store/table", "edge/cricket", "edge/cricket/tables", "edge/cricket/matches", "edge/cricket/phone", "edge/cricket/payload", "edge/cricket/push/apns",
			"store", "store/attr", "sync/replica", // for the type that describes the outcome of a write
		},
		tests: []string{"edge/cricket/push/sandbox", "edge/cricket/replay", "store/expr"},
	},
	{pkg: "edge/cricket/lav2", may: []string{"edge/cricket", "edge/cricket/tables", "edge/cricket/matches", "edge/cricket/phone", "store", "store/attr"}},
	{pkg: "edge/cricket/push/apns", tests: []string{"edge/cricket/push/sandbox"}},
	{pkg: "edge/cricket/push/sandbox", may: []string{"edge/cricket/payload"}, tests: []string{"edge/cricket/push/apns"}},
	{pkg: "edge/cricket/replay", may: []string{"edge/cricket", "edge/cricket/replay/recording"}},
	{pkg: "edge/cricket/replay/recording"},
	{pkg: "edge/cricket/sportmonks", may: []string{"edge/cricket", "edge/cricket/reference"}, tests: []string{"edge/cricket/replay"}},
	{pkg: apps, may: []string{"store", "store/expr", "store/attr", "store/derived", "store/idempotency", "store/patch", "store/table"}, tests: []string{"edge/cricket/replay", "edge/cricket/sportmonks"}},

	{pkg: "store", may: []string{"store/expr", "store/attr", "store/internal/..."}},
	{pkg: "store/internal/crash", tests: []string{"store", "store/expr", "store/attr"}},
	{pkg: "store/internal/simulation", tests: []string{"store", "store/expr", "store/attr"}},
	{pkg: "store/internal/refusal"},
	{pkg: "store/internal/disk"},
	{pkg: "store/internal/pages", may: []string{"store/internal/refusal", "store/internal/disk"}},
	{pkg: "store/internal/format", may: []string{"store/internal/refusal", "store/expr", "store/attr"}},
	{pkg: "store/internal/catalogue", may: []string{"store/internal/refusal", "store/internal/format", "store/expr", "store/attr"}},
	{
		pkg:   "store/internal/file",
		may:   []string{"store/internal/disk", "store/internal/pages", "store/internal/format", "store/internal/catalogue"},
		tests: []string{"store", "store/expr", "store/attr"},
	},
	{
		pkg: "store/internal/txn",
		may: []string{
			"store/internal/refusal", "store/internal/disk", "store/internal/format", "store/internal/catalogue", "store/internal/file",
			"store/expr", "store/attr",
		},
		tests: []string{"store", "store/expr", "store/attr"},
	},
	{
		pkg: "store/internal/check",
		may: []string{
			"store/internal/disk", "store/internal/pages", "store/internal/format", "store/internal/catalogue", "store/internal/file",
			"store/internal/txn", "store/attr",
		},
		tests: []string{"store", "store/expr", "store/attr"},
	},
	{pkg: "store/internal/past", may: []string{"store/internal/format", "store/internal/catalogue", "store/internal/txn", "store/attr"}},
	{
		pkg: "store/internal/housekeeping",
		may: []string{"store/internal/format", "store/internal/catalogue", "store/internal/txn", "store/internal/check"},
	},
	{
		pkg: "store/internal/backup",
		may: []string{
			"store/internal/refusal", "store/internal/disk", "store/internal/pages", "store/internal/format", "store/internal/file",
			"store/internal/txn",
		},
		tests: []string{"store", "store/expr", "store/attr"},
	},
	{pkg: "store/expr", may: []string{"store/attr"}},
	{pkg: "store/attr"},
	{pkg: "store/derived", may: []string{"store", "store/attr", "store/table"}},
	{pkg: "store/idempotency", may: []string{"store", "store/attr"}},
	{pkg: "store/patch", may: []string{"store", "store/attr", "store/table"}},
	{pkg: "store/table", may: []string{"store", "store/expr", "store/attr"}},

	{pkg: "store/storetest/...", may: []string{"store/...", "sync/..."}},
	{pkg: "internal/testrig/nodes", may: []string{"edge/app", "edge/node", "httpapi/auth", "store/...", "sync/dynamo", "sync/lease", "sync/replica", "sync/replica/feed", "sync/replica/intent"}},
	{pkg: "internal/testrig/...", may: []string{"store/...", "sync/...", "httpapi/...", "edge/cricket/..."}},
	{pkg: "internal/tools/...", may: []string{"..."}},
	{pkg: "internal/...", may: []string{"internal/..."}}, // the leaves
}

// apps stands for the applications' own packages: domain rules and services on store.Tx.
const apps = "edge/APP"

// builders stands for the packages that assemble an application: only they know both the node and the application.
const builders = "edge/APP/APPapp"

// webs stands for the applications' routes and pages.
const webs = "edge/APP/web"

type arrow struct {
	pkg   string
	may   []string
	tests []string
}

var (
	forTests = []string{"store/storetest/...", "internal/testrig/..."}
	programs = []string{"internal/tools/...", "internal/archtest"}
)

// covers reports whether one of the patterns of the table matches pkg.
func covers(pkg string, patterns ...string) bool {
	for _, p := range patterns {
		folder, deep := strings.CutSuffix(p, "/...")
		switch {
		case p == "..." || p == pkg,
			deep && (pkg == folder || strings.HasPrefix(pkg, folder+"/")),
			isAppPattern(p) && p == appPattern(pkg):
			return true
		}
	}
	return false
}

// ofNode are the folders of edge that are no application's.
var ofNode = []string{"app", "mail", "node"}

// appOf returns the application to which a package belongs; empty: none.
func appOf(pkg string) string {
	folders := strings.Split(pkg, "/")
	if len(folders) < 2 || folders[0] != "edge" || slices.Contains(ofNode, folders[1]) {
		return ""
	}
	return folders[1]
}

func isAppPattern(pattern string) bool {
	return pattern == apps || pattern == webs || pattern == builders
}

// appPattern returns the pattern that stands for a package of an application; empty: it is none, or one that needs rows of its own.
func appPattern(pkg string) string {
	app := appOf(pkg)
	switch {
	case app == "":
		return ""
	case pkg == "edge/"+app:
		return apps
	case pkg == "edge/"+app+"/web":
		return webs
	case pkg == "edge/"+app+"/"+app+"app":
		return builders
	}
	return ""
}

func arrowOf(pkg string) (arrow, bool) {
	for _, a := range arrows {
		if covers(pkg, a.pkg) {
			return a, true
		}
	}
	return arrow{}, false
}

// mayImport applies the table to an import of one of our packages.
func mayImport(from arrow, src source, to string) bool {
	switch {
	case src.dir == to, covers(to, from.may...):
		return true
	case covers(to, forTests...):
		return src.test || covers(src.dir, forTests...)
	case covers(to, programs...):
		return false
	case src.test && covers(to, from.tests...):
		return true
	}
	return covers(to, "internal/...")
}

func importProblems(tr *tree) (problems []string) {
	for dir := range tr.packages() {
		if _, ok := arrowOf(dir); !ok {
			problems = append(problems, fmt.Sprintf("%s is in no row of the table of imports: decide where it stands in the "+
				"picture of docs/ARCHITECTURE.md, then add its row to arrows in internal/archtest/imports_test.go", dir))
		}
	}
	for _, src := range tr.code {
		from, _ := arrowOf(src.dir)
		for _, imp := range src.ast.Imports {
			to, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module+"/")
			if ours && !mayImport(from, src, to) {
				problems = append(problems, fmt.Sprintf("%s imports %s, and %s may not: arrows point down only. Declare an "+
					"interface in %[3]s and let edge hand it in, or move the code; if the picture itself is wrong, change it "+
					"in docs/ARCHITECTURE.md and in arrows of internal/archtest/imports_test.go", src.path, to, src.dir))
			}
		}
	}
	return problems
}

func TestImportsPointDown(t *testing.T) {
	report(t, importProblems(project(t)))
}
