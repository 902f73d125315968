package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/cli"
)

const dynamodbLong = `Serve only DynamoDB's API, from a file or from memory, until interrupted. Use it as a replacement for DynamoDB Local
in tests and CI, or for a program that needs DynamoDB's interface on one machine. No node runs around it.

  touchline dynamodb --memory                     # in memory only
  touchline dynamodb --data app.db                # every acknowledged write is on disk
  touchline dynamodb --memory --listen 0.0.0.0:8000 --any-key    # in a container, for tests

AWS SDKs and the AWS CLI (2.13 or 1.29, and later) read the address from the environment. Any credentials and region will do
without --dynamodb-auth:

  export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 AWS_ENDPOINT_URL_DYNAMODB_STREAMS=http://127.0.0.1:8000
  export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
  aws dynamodb list-tables

or, without the variable: aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000

It prints one line when it is ready. --listen 127.0.0.1:0 picks a free port; -o json prints the line for a program:

  {"endpoint":"http://127.0.0.1:41753","listen":"127.0.0.1:41753"}

With --any-key other machines may connect too, and each may do everything. Tests then reset the data with

  curl -X POST http://127.0.0.1:8000/_/reset                # removes every item, in one commit
  curl -X POST http://127.0.0.1:8000/_/reset?tables=true    # drops the tables too

On SIGTERM or SIGINT, requests in progress finish first. SIGHUP rereads the files of keys and faults. Exit codes: 0 ended by
a signal, 1 failure (port in use, file in use), 2 wrong usage, 130 ended by a second signal.`

// dynamodbFlags are the flags of touchline dynamodb.
type dynamodbFlags struct {
	edge.StandaloneConfig
	log    node.LogConfig
	output string
}

func newDynamoDB() *cobra.Command {
	var f dynamodbFlags
	cmd := &cobra.Command{
		Use:   "dynamodb (--data FILE | --memory)",
		Short: "Serve only DynamoDB's API, as a replacement for DynamoDB Local",
		Long:  dynamodbLong,
		Args:  cli.Usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Listen, "listen", "127.0.0.1:8000", "address to serve on; port 0 picks a free port")
	flags.StringVar(&f.Data, "data", "", "file that holds the data; created if missing, with its directory")
	flags.BoolVar(&f.Memory, "memory", false, "keep the data in memory only")
	addEndpointFlags(cmd, &f.DynamoDBConfig)
	flags.BoolVar(&f.AnyKey, "any-key", false, "accept every key, on any address, and POST /_/reset from this machine: for tests")
	flags.BoolVar(&f.RemoteReset, "remote-reset", false, "with --any-key: accept POST /_/reset from other machines too")
	flags.StringVar(&f.log.Level, "log-level", "warn", "debug, info, warn or error")
	flags.StringVar(&f.log.Format, "log-format", "auto", "auto (text on a terminal, else json), text or json")
	cli.OutputFlag(cmd, &f.output)
	return cmd
}

// addEndpointFlags adds flags that the endpoint shares with touchline serve.
func addEndpointFlags(cmd *cobra.Command, c *node.DynamoDBConfig) {
	cmd.Flags().StringVar(&c.Auth, "dynamodb-auth", "", "file of access keys and their permissions; without it signatures are not checked")
	cmd.Flags().DurationVar(&c.TTLSweep, "ttl-sweep", edge.DefaultConfig().DynamoDB.TTLSweep, "how often items past their TTL are deleted, from 1s")
	cmd.Flags().StringVar(&c.Inject, "inject", "", "file of faults to inject, for testing clients; reloaded when it changes")
}

func (f *dynamodbFlags) run(cmd *cobra.Command) error {
	if f.Memory == (f.Data != "") {
		return cli.Misuse(cmd, errors.New("choose where to keep the data: --data FILE or --memory, not both"))
	}
	switch {
	case f.AnyKey && f.Auth != "":
		return cli.Misuse(cmd, errors.New("--any-key accepts every key, --dynamodb-auth only those of its file: choose one"))
	case f.RemoteReset && !f.AnyKey:
		return cli.Misuse(cmd, errors.New("--remote-reset needs --any-key"))
	case !slices.Contains([]string{"auto", "text", "json"}, f.log.Format):
		return cli.Misuse(cmd, fmt.Errorf("--log-format must be auto, text or json, not %q", f.log.Format))
	}
	log, err := node.NewLogger(f.log, cmd.ErrOrStderr())
	if err != nil {
		return cli.Misuse(cmd, fmt.Errorf("--log-level must be debug, info, warn or error, not %q", f.log.Level))
	}
	f.Log = log
	limitMemory(cmd.Context(), log, os.DirFS("/"), aloneLimit)
	f.Ready = func(a edge.Answering) { f.printReady(cmd, a) }
	ask, stop := hangups()
	defer stop()
	f.Reload = ask
	return edge.DynamoDB(cmd.Context(), f.StandaloneConfig)
}

// printReady prints the ready line. A parent process that does not read it is no reason to stop.
func (f *dynamodbFlags) printReady(cmd *cobra.Command, a edge.Answering) {
	if f.output == "json" {
		_ = json.NewEncoder(cmd.OutOrStdout()).Encode(a)
		return
	}
	from := "from " + a.Data
	if a.Data == "" {
		from = "from memory"
	}
	if a.AnyKey {
		from += ", for every key"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "answering DynamoDB's API at %s %s\n", a.Endpoint, from) //nolint:errcheck // as above
}
