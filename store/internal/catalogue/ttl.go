package catalogue

import (
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// ttlHorizon is how far in the past an expiry may be. DynamoDB ignores older ones, on the assumption that the attribute holds something
// else.
const ttlHorizon = 5 * 365 * 24 * time.Hour

// Expired reports whether an item is past its TTL. Reads then hide it; conditions and updates still see it until it is swept, as in
// DynamoDB.
func (t *Table) Expired(d expr.Doc, now time.Time) (bool, error) {
	if t.Spec.TTL == "" {
		return false, nil
	}
	v, ok, err := d.Get(t.Spec.TTL)
	if err != nil {
		return false, refusal.DamagedData(err, "an item cannot be decoded")
	}
	if !ok || v.Kind() != attr.KindN {
		return false, nil
	}
	at := now.Unix()
	horizon := at - int64(ttlHorizon/time.Second)
	if limit, whole := v.Int(); whole {
		return limit < at && limit > horizon, nil
	}
	before, _ := attr.Compare(v, attr.Int(at)) // both are numbers
	behind, _ := attr.Compare(v, attr.Int(horizon))
	return before < 0 && behind > 0, nil
}
