package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
)

const dynamodbLong = `Answer DynamoDB's API alone, from a file or from memory, until interrupted: for tests and CI in the place of
DynamoDB Local, or for a program that wants DynamoDB's interface on one machine. There is no node around it.

  touchline dynamodb --memory                     # nothing is kept
  touchline dynamodb --data app.db                # every acknowledged write is on disk

Any AWS SDK and the AWS CLI (2.13 or 1.29, and later) find it by one variable. They want credentials and a region too; which ones
does not matter without --dynamodb-auth:

  export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000
  export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1
  aws dynamodb list-tables

or, without the variable: aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000

It prints one line when it answers. --listen 127.0.0.1:0 takes a free port; -o json prints the line for a program:

  {"endpoint":"http://127.0.0.1:41753","listen":"127.0.0.1:41753"}

SIGTERM and SIGINT let requests finish that have begun. Exit codes: 0 ended by a signal, 1 failure (port in use, file
in use), 2 wrong usage, 130 ended by a second signal.`

// dynamodbFlags are the flags of the endpoint alone.
type dynamodbFlags struct {
	edge.StandaloneConfig
	log    edge.LogConfig
	output string
}

func newDynamoDB() *cobra.Command {
	var f dynamodbFlags
	cmd := &cobra.Command{
		Use:   "dynamodb (--data FILE | --memory)",
		Short: "Answer DynamoDB's API alone, in the place of DynamoDB Local",
		Long:  dynamodbLong,
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Listen, "listen", "127.0.0.1:8000", "address to answer on; port 0 takes a free one")
	flags.StringVar(&f.Data, "data", "", "file that holds the data; made if it is not there, with its folder")
	flags.BoolVar(&f.Memory, "memory", false, "hold the data in memory and forget it at the end")
	addEndpointFlags(cmd, &f.DynamoDBConfig)
	flags.StringVar(&f.log.Level, "log-level", "warn", "debug, info, warn or error")
	flags.StringVar(&f.log.Format, "log-format", "auto", "auto (text on a terminal, else json), text or json")
	outputFlag(cmd, &f.output)
	return cmd
}

// addEndpointFlags adds the flags that the endpoint has alone and in a node.
func addEndpointFlags(cmd *cobra.Command, c *edge.DynamoDBConfig) {
	cmd.Flags().StringVar(&c.Auth, "dynamodb-auth", "", "file of access keys and what each may do; without one signatures are not looked at")
	cmd.Flags().StringVar(&c.Inject, "inject", "", "file of faults to answer with, for testing clients; read again when it changes")
}

func (f *dynamodbFlags) run(cmd *cobra.Command) error {
	if f.Memory == (f.Data != "") {
		return usageError{hint(cmd, errors.New("say where the data is to be, with --data FILE or with --memory, not both"))}
	}
	log, err := edge.NewLogger(f.log, cmd.ErrOrStderr())
	if err != nil {
		return usageError{hint(cmd, fmt.Errorf("--log-level must be debug, info, warn or error, not %q", f.log.Level))}
	}
	f.Log = log
	collectLess(aloneLimit)
	f.Ready = func(a edge.Answering) { f.tell(cmd, a) }
	return edge.DynamoDB(cmd.Context(), f.StandaloneConfig)
}

// tell prints the one line. Whoever started the process may not read it: that is no reason to stop.
func (f *dynamodbFlags) tell(cmd *cobra.Command, a edge.Answering) {
	if f.output == "json" {
		_ = json.NewEncoder(cmd.OutOrStdout()).Encode(a)
		return
	}
	from := "from " + a.Data
	if a.Data == "" {
		from = "from memory"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "answering DynamoDB's API at %s %s\n", a.Endpoint, from) //nolint:errcheck // as above
}
