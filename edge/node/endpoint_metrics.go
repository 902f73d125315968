package node

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi/operator"
)

// requestsMetric is the name under which the DynamoDB API counts its requests.
const requestsMetric = "touchline_dynamodb_requests_total"

// requestCounts reads what the DynamoDB API counts, for /statusz: by operation and outcome.
func requestCounts(from prometheus.Gatherer) ([]operator.RequestCount, error) {
	families, err := from.Gather()
	if err != nil {
		return nil, err
	}
	out := []operator.RequestCount{}
	for _, f := range families {
		if f.GetName() != requestsMetric {
			continue
		}
		for _, m := range f.GetMetric() {
			c := operator.RequestCount{Count: uint64(m.GetCounter().GetValue())}
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case "operation":
					c.Operation = l.GetValue()
				case "outcome":
					c.Outcome = l.GetValue()
				}
			}
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b operator.RequestCount) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Outcome, b.Outcome))
	})
	return out, nil
}
