package main

import (
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
)

func newServe() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the node",
		Long: "Run the node until it is interrupted. Without a feed token nothing is polled, without a push key nothing is pushed;\n" +
			"what the node holds is served all the same.",
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(path, cmd.Flags())
			if err != nil {
				return err
			}
			if err := c.Validate(); err != nil {
				return err
			}
			log, err := edge.NewLogger(c.Log, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if c.DynamoDB.Listen != "" {
				collectLess(nodeLimit)
			}
			return edge.Serve(cmd.Context(), c.Config, buildInfo().Version, log)
		},
	}
	d := edge.DefaultConfig()
	cmd.Flags().StringVar(&path, "config", "", "configuration file (default "+defaultFile+" if it exists)")
	cmd.Flags().String("data-dir", d.DataDir, "directory of the node's database")
	cmd.Flags().String("listen", d.Listen, "address to serve on; one that other machines reach needs a way to sign in (auth.*)")
	cmd.Flags().Bool("dev-issuer", d.Auth.DevIssuer, "accept tokens that 'touchline token' makes; for development, on a loopback address only")
	cmd.Flags().Bool("replay", d.Cricket.Replay, "recorded matches in the place of the feed, started by admins at /replay")
	cmd.Flags().String("dynamodb-listen", d.DynamoDB.Listen, "address to answer DynamoDB's API on, such as 127.0.0.1:8000; empty: none")
	cmd.Flags().String("dynamodb-auth", d.DynamoDB.Auth, "file of access keys and what each may do at the DynamoDB API")
	cmd.Flags().String("inject", d.DynamoDB.Inject, "file of faults to answer with at the DynamoDB API; read again when it changes")
	cmd.Flags().String("log-format", d.Log.Format, "auto (text on a terminal, else json), text or json")
	cmd.Flags().String("log-level", d.Log.Level, "debug, info, warn or error")
	return cmd
}
