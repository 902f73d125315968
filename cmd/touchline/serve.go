package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/cli"
)

func newServe() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the node",
		Long: "Run the node until it is interrupted. Without a feed token nothing is polled, without a push key nothing is pushed;\n" +
			"what the node already has is served in any case. SIGHUP reloads the configuration and the files named in it.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(path, cmd.Flags())
			if err != nil {
				return err
			}
			if err := c.Validate(); err != nil {
				return err
			}
			log, level, err := node.NewLeveledLogger(c.Log, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			usual := int64(0)
			if c.DynamoDB.Listen != "" {
				usual = nodeLimit
			}
			limitMemory(cmd.Context(), log, os.DirFS("/"), usual)
			ask, stop := hangups()
			defer stop()
			return edge.Serve(cmd.Context(), c.Config, buildInfo().Version, log, edge.Reload{
				Ask: ask, Level: level, Load: func() (edge.Config, error) {
					again, err := load(path, cmd.Flags())
					if err != nil {
						return edge.Config{}, err
					}
					return again.Config, nil
				},
			})
		},
	}
	d := edge.DefaultConfig()
	configFlag(cmd, &path)
	cmd.Flags().String("data-dir", d.DataDir, "directory of the node's database")
	cmd.Flags().String("listen", d.Listen, "address to serve on; one reachable from other machines requires a sign-in method (auth.*)")
	cmd.Flags().Bool("dev-issuer", d.Auth.DevIssuer, "accept tokens created by 'touchline token'; for development, on a loopback address only")
	for _, f := range edge.Flags() {
		cmd.Flags().Bool(f.Name, false, f.Usage)
	}
	cmd.Flags().String("dynamodb-listen", d.DynamoDB.Listen, "address to serve DynamoDB's API on, such as 127.0.0.1:8000; empty: none")
	cmd.Flags().String("dynamodb-auth", d.DynamoDB.Auth, "file of access keys and their permissions at the DynamoDB API")
	cmd.Flags().String("inject", d.DynamoDB.Inject, "file of faults to inject at the DynamoDB API; reloaded when it changes")
	cmd.Flags().Duration("ttl-sweep", d.DynamoDB.TTLSweep, "how often items past their TTL are deleted, from 1s")
	cmd.Flags().String("log-format", d.Log.Format, "auto (text on a terminal, else json), text or json")
	cmd.Flags().String("log-level", d.Log.Level, "debug, info, warn or error")
	return cmd
}
