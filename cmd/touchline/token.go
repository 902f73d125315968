package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
)

func newToken() *cobra.Command {
	var f maintainFlags
	var t edge.TokenConfig
	cmd := &cobra.Command{
		Use:   "token --user ID",
		Short: "Create a sign-in token, for development",
		Long: "Create and print an ID token, signed with the key that 'touchline serve --dev-issuer' keeps in its data directory.\n" +
			"An app sends it as Authorization: Bearer TOKEN; in a browser, enter it at /signin. Anyone holding it is that user\n" +
			"until it expires.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.User == "" {
				return cli.Misuse(cmd, errors.New("--user must name the user"))
			}
			c, err := f.load(cmd)
			if err != nil {
				return err
			}
			made, err := edge.Token(c.Config, t)
			if err != nil {
				return err
			}
			return f.print(cmd, made, made.Token+"\n")
		},
	}
	flags := cmd.Flags()
	configFlag(cmd, &f.config)
	flags.String("data-dir", edge.DefaultConfig().DataDir, "directory of the node's database, which has the key")
	flags.StringVar(&t.User, "user", "", "id of the user")
	flags.BoolVar(&t.Admin, "admin", false, "make the user an admin, a member of the group auth.admin_group")
	flags.StringSliceVar(&t.Groups, "groups", nil, "further groups of the user, separated by commas")
	flags.DurationVar(&t.Life, "ttl", 12*time.Hour, "how long the token is valid, up to 720h")
	cli.OutputFlag(cmd, &f.output)
	return cmd
}
