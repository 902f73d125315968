package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// ConflictList is a page of conflicts.
type ConflictList = httpapi.List[conflict.View]

// Sync returns the status of the replication.
func (a *Client) Sync(ctx context.Context) (out operator.SyncStatus, err error) {
	err = a.ask(ctx, http.MethodGet, "/sync", &out)
	return out, err
}

// Conflicts returns a page of conflicts, newest first.
func (a *Client) Conflicts(ctx context.Context, ask conflict.Query) (out ConflictList, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"state": string(cmp.Or(ask.State, conflict.StateAny)), "table": ask.Table} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if ask.Limit > 0 {
		q.Set("limit", strconv.Itoa(ask.Limit))
	}
	if ask.Before > 0 {
		q.Set("cursor", strconv.FormatUint(ask.Before, 10))
	}
	err = a.ask(ctx, http.MethodGet, "/conflicts?"+q.Encode(), &out)
	return out, err
}

// Conflict returns one conflict in full.
func (a *Client) Conflict(ctx context.Context, id uint64) (out conflict.View, err error) {
	err = a.ask(ctx, http.MethodGet, fmt.Sprintf("/conflicts/%d", id), &out)
	return out, err
}

// Decide retries or discards a conflict.
func (a *Client) Decide(ctx context.Context, id uint64, verb string) (out conflict.View, err error) {
	err = a.ask(ctx, http.MethodPost, fmt.Sprintf("/conflicts/%d/%s", id, url.PathEscape(verb)), &out)
	return out, err
}
