package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/attr"
)

// readers are clients that each ask for the same paths in turn, over one connection, as fast as they are answered.
type readers struct {
	connections int // of an address
	addresses   int
	user        string // for an application with the node's sign-in; empty: nobody is signed in
	paths       []string
}

// afterRefusal is how long a client that was refused waits.
const afterRefusal = 100 * time.Millisecond

func (r readers) run(ctx context.Context, n *node, _ bool) error {
	return measure.Together(r.connections*r.addresses, func(nth int) error {
		from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+nth%r.addresses))}
		client := http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: from}).DialContext}, Timeout: time.Minute}
		for i := 0; ctx.Err() == nil; i++ {
			if status := r.read(ctx, &client, "http://"+n.http+r.paths[i%len(r.paths)]); status != http.StatusOK && status != http.StatusNotFound {
				pause(ctx, afterRefusal)
			}
		}
		return nil
	})
}

// read returns the status of an answer that was read to its end, or 0.
func (r readers) read(ctx context.Context, client *http.Client, url string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0
	}
	if r.user != "" {
		req.Header.Set("X-User-Id", r.user)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

const hacktrackerTable = "hacktracker-prod"

const stamp = "2026-07-04T10:00:00.000Z"

// fill puts count rows into a table of the node, through its DynamoDB port: no user may create so many.
func fill(ctx context.Context, n *node, table string, count int, row func(nth int) attr.Item) error {
	client := measure.NewClient(n.dynamodb, 1)
	for from := 0; from < count; from += measure.BatchItems {
		var puts []types.WriteRequest
		for nth := from; nth < min(from+measure.BatchItems, count); nth++ {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: measure.SDKItem(row(nth))}})
		}
		_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: puts}})
		if err != nil {
			return err
		}
	}
	return nil
}

// fillLeagues creates 5,000 leagues of one user in 3FC.
func fillLeagues(ctx context.Context, n *node) error {
	return fill(ctx, n, "3fc-prod-app", 5000, func(nth int) attr.Item {
		return attr.Item{
			"pk": attr.S(fmt.Sprintf("LEAGUE#league-%05d", nth)), "sk": attr.S("METADATA"), "entityType": attr.S("league"),
			"createdAt": attr.S(stamp), "updatedAt": attr.S(stamp),
			"data": attr.S(fmt.Sprintf(`{"leagueId":"league-%05d","name":"Sunday league number %d","slug":"sunday-%d","createdByUserId":"ana@example.org"}`, nth, nth, nth)),
		}
	})
}

// fillGames creates a team of the user ana in HackTracker with 30,000 games.
func fillGames(ctx context.Context, n *node) error {
	rows := []attr.Item{
		{"PK": attr.S("USER#ana"), "SK": attr.S("METADATA"), "userId": attr.S("ana"), "firstName": attr.S("Ana"), "createdAt": attr.S(stamp), "updatedAt": attr.S(stamp)},
		{"PK": attr.S("USER#ana"), "SK": attr.S("TEAM#t"), "userId": attr.S("ana"), "teamId": attr.S("t"), "role": attr.S("owner"), "status": attr.S("active"), "joinedAt": attr.S(stamp)},
		{
			"PK": attr.S("TEAM#t"), "SK": attr.S("METADATA"), "teamId": attr.S("t"), "name": attr.S("Bad News"), "team_type": attr.S("MANAGED"), "ownerId": attr.S("ana"),
			"status": attr.S("active"), "createdAt": attr.S(stamp), "updatedAt": attr.S(stamp),
		},
	}
	if err := fill(ctx, n, hacktrackerTable, len(rows), func(nth int) attr.Item { return rows[nth] }); err != nil {
		return err
	}
	return fill(ctx, n, hacktrackerTable, 30_000, func(nth int) attr.Item {
		id := fmt.Sprintf("game-%05d", nth)
		return attr.Item{
			"PK": attr.S("GAME#" + id), "SK": attr.S("METADATA"), "gameId": attr.S(id), "teamId": attr.S("t"), "status": attr.S("SCHEDULED"),
			"teamScore": attr.Int(0), "opponentScore": attr.Int(0), "lineup": attr.L(), "opponentName": attr.S("Visitors " + id),
			"scheduledStart": attr.S(stamp), "createdAt": attr.S(stamp), "updatedAt": attr.S(stamp),
			"GSI2PK": attr.S("ENTITY#GAME"), "GSI2SK": attr.S("METADATA#" + id), "GSI3PK": attr.S("TEAM#t"), "GSI3SK": attr.S("GAME#" + id),
		}
	})
}
