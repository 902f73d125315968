package node

import (
	"log/slog"

	"github.com/touchline/touchline/internal/connlimit"
)

// ShareFiles divides connections among ports that want so many each, and logs a warning if there are too few.
func ShareFiles(files int, log *slog.Logger, wanted ...int) []int {
	share := connlimit.Share(files, wanted...)
	sum := func(all []int) (n int) {
		for _, v := range all {
			n += v
		}
		return n
	}
	if got, want := sum(share), sum(wanted); got < want {
		log.Warn("the limit of open files allows few connections: raise it (ulimit -n, or LimitNOFILE= of systemd)",
			"files", files, "connections", got, "wanted", want)
	}
	return share
}
