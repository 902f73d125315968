package main

import "context"

// input is what one client, or many, do to a node.
type input struct {
	name, what string // row group, text of the table
	files      int    // limit of open files of the node's process

	prepare func(ctx context.Context, n *node) error             // before anything is measured; nil: nothing
	attack  func(ctx context.Context, n *node, quick bool) error // until ctx ends; quick: a tenth of the size will do
	probe   func(n *node) visit                                  // a request of somebody else
}

// shippedFiles is a limit of open files that leaves each port as many connections as it asks for.
const shippedFiles = 20_000

// The paths that readers ask for.
var (
	leaguePaths = []string{"/3fc/v1/public/leagues", "/3fc/-/", "/3fc/v1/public/leagues/nowhere/seasons"}
	gamePaths   = []string{"/hacktracker/teams/t/games", "/hacktracker/-/teams/t/schedule", "/hacktracker/teams/t/stats"}
)

// inputs has all inputs in the order of the table.
var inputs = []input{
	{
		name: "drips-500-http", what: "500 bodies, 1 byte/s, 1,024 files, 10 addresses", files: 1024,
		attack: drips{count: 500, addresses: 10, head: postToHTTP}.run, probe: httpVisit,
	},
	{
		name: "drips-9400-http", what: "9,400 bodies, one address", files: shippedFiles,
		attack: drips{count: 9400, addresses: 1, head: postToHTTP}.run, probe: httpVisit,
	},
	{
		name: "drips-9400-http-many", what: "9,400 bodies, 250 addresses", files: shippedFiles,
		attack: drips{count: 9400, addresses: 250, head: postToHTTP}.run, probe: httpVisit,
	},
	{
		name: "drips-9400-http-each", what: "9,400 bodies, each from its own address", files: shippedFiles,
		attack: drips{count: 9400, addresses: 9400, head: postToHTTP}.run, probe: httpVisit,
	},
	{
		name: "refused-500-http", what: "500 bodies for an unknown path, 1,024 files", files: 1024,
		attack: drips{count: 500, addresses: 10, head: postNowhere}.run, probe: httpVisit,
	},
	{
		name: "heads-9400-http-many", what: "9,400 heads, 250 addresses", files: shippedFiles,
		attack: drips{count: 9400, addresses: 250, head: endlessHead}.run, probe: httpVisit,
	},
	{
		name: "drips-500-dynamodb", what: "500 bodies, 1,024 files, one address", files: 1024,
		attack: drips{count: 500, addresses: 1, head: postToDynamoDB, dynamodb: true}.run, probe: dynamodbVisit,
	},
	{
		name: "drips-9400-dynamodb", what: "9,400 bodies, one address", files: shippedFiles,
		attack: drips{count: 9400, addresses: 1, head: postToDynamoDB, dynamodb: true}.run, probe: dynamodbVisit,
	},
	{
		name: "drips-9400-dynamodb-many", what: "9,400 bodies, 250 addresses", files: shippedFiles,
		attack: drips{count: 9400, addresses: 250, head: postToDynamoDB, dynamodb: true}.run, probe: dynamodbVisit,
	},
	{
		name: "leagues-32", what: "5,000 leagues, 32 connections", files: shippedFiles,
		prepare: fillLeagues, attack: readers{connections: 32, addresses: 1, paths: leaguePaths}.run, probe: httpVisit,
	},
	{
		name: "leagues-4x32", what: "5,000 leagues, 4 x 32 connections", files: shippedFiles,
		prepare: fillLeagues, attack: readers{connections: 32, addresses: 4, paths: leaguePaths}.run, probe: httpVisit,
	},
	{
		name: "games-32", what: "30,000 games of a team, 32 connections", files: shippedFiles,
		prepare: fillGames, attack: readers{connections: 32, addresses: 1, user: "ana", paths: gamePaths}.run, probe: httpVisit,
	},
}
