package edge

import (
	"log/slog"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/connlimit"
)

// connections is how many connections the node's own address and the DynamoDB endpoint may have open, in a process that may
// have so many files open.
func (c Config) connections(files int, log *slog.Logger) (http, dynamodb int) {
	if c.DynamoDB.Listen != "" {
		dynamodb = dynamoapi.DefaultConnections
	}
	share := shareFiles(files, log, c.HTTP.connections(), dynamodb)
	return share[0], share[1]
}

// shareFiles divides connections among ports that want so many each, and logs where they get fewer.
func shareFiles(files int, log *slog.Logger, wanted ...int) []int {
	share := connlimit.Share(files, wanted...)
	sum := func(all []int) (n int) {
		for _, one := range all {
			n += one
		}
		return n
	}
	if got, want := sum(share), sum(wanted); got < want {
		log.Warn("the limit of open files allows few connections: raise it (ulimit -n, or LimitNOFILE= of systemd)",
			"files", files, "connections", got, "wanted", want)
	}
	return share
}
