package push

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// cleanChannels runs at startup. It deletes, in the background, channels of matches that are over and channels left by a
// crash. If nodes share matches, a channel is deleted under its match's lease, by maintain.
func (c *Coordinator) cleanChannels(ctx context.Context, active []string) error {
	rows, err := c.channelRows(ctx)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		row := rows[id]
		over := !slices.Contains(active, id)
		switch {
		case row.ID != "" && over && c.cfg.Rights != nil:
			_, err = c.loadMatch(ctx, id)
		case row.ID == "" && c.cfg.Rights != nil, row.ID != "" && over && c.manage == nil:
			// Nobody can tell whose the newer channels are: other nodes create some too.
			err = c.dropChannel(ctx, id)
		case row.ID == "" || over:
			c.cleanBeside(ctx, id, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cleanBeside cleans up after one match in the background. Until it is done the match creates no channel.
func (c *Coordinator) cleanBeside(ctx context.Context, id string, row channelRow) {
	var failed error
	c.cleaning[id] = true
	c.host.add(ctx, task{
		do: func(ctx context.Context) {
			if row.ID == "" {
				failed = c.cleanChannel(context.WithoutCancel(ctx), id, row)
			} else if res := c.deleteChannel(ctx, row.ID); deleted(&res) {
				failed = c.dropChannel(context.WithoutCancel(ctx), id)
			}
		},
		then: func(context.Context) error { delete(c.cleaning, id); return failed },
	})
}

// channelRows returns the rows of all channels by match.
func (c *Coordinator) channelRows(ctx context.Context) (map[string]channelRow, error) {
	rows := map[string]channelRow{}
	err := c.store.View(ctx, func(tx *store.Tx) error {
		for item, err := range tx.ScanAll(store.Scan{Table: tables.PushState}) {
			if err != nil {
				return err
			}
			id, ok := strings.CutPrefix(item["stateKey"].Str(), channelKey(""))
			var row channelRow
			if ok && attr.Unmarshal(item, &row) == nil {
				rows[id] = row
			}
		}
		return nil
	})
	return rows, err
}

// cleanChannel deletes a channel that may have been created but whose id is unknown. It is the one that did not exist
// before and belongs to no other match. If there are several, other clients created channels too: all stay, because a
// leftover costs less than deleting a stranger's. If Apple does not answer, the row stays for the next startup.
func (c *Coordinator) cleanChannel(ctx context.Context, matchID string, row channelRow) error {
	if c.manage == nil || c.cfg.Rights != nil { // channels of other nodes are unknown here
		return c.dropChannel(ctx, matchID)
	}
	now, res := c.manage.Channels(ctx)
	if res.Action != apns.Accepted {
		return nil
	}
	known := map[string]bool{}
	for _, id := range row.Before {
		known[id] = true
	}
	rows, err := c.channelRows(ctx)
	if err != nil {
		return err
	}
	for _, other := range rows {
		known[other.ID] = true
	}
	left := slices.DeleteFunc(now, func(id string) bool { return known[id] })
	if len(left) > 1 {
		c.log.Warn("unknown broadcast channels: some may be left over from a crash", "match", matchID, "channels", len(left))
	}
	if len(left) == 1 {
		if res := c.deleteChannel(ctx, left[0]); !deleted(&res) {
			return nil
		}
	}
	return c.dropChannel(ctx, matchID)
}
