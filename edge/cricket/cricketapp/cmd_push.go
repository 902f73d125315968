package cricketapp

import (
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

func newPush(sh *app.Shell) *cobra.Command {
	cmd := &cobra.Command{
		Use: "push", Short: "Test the connection to Apple's push service", Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPushTest(sh))
	return cmd
}

func newPushTest(sh *app.Shell) *cobra.Command {
	var path, output string
	var c PushTestConfig
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Send one push with the configured settings, and explain the answer",
		Long: "Send one push with the host, key, key id, team id and bundle id of the configuration, and explain the\n" +
			"answer. With --token a device gets a notification; without it a made-up token is used, which Apple refuses only\n" +
			"if everything else is right, so no phone is disturbed. It uses the provider token of the node with that data directory\n" +
			"(a running node sends it itself), because Apple accepts a new token only every 20 minutes. Exit code 1 if something is wrong.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, set, err := sh.Load(cmd, path, name)
			if err != nil {
				return err
			}
			c.Push, c.Dir = set.(*Settings).Push, dir
			res, err := PushTest(cmd.Context(), c)
			if err != nil {
				return err
			}
			if err = cli.Print(cmd, output, res, res.String()); err == nil && !res.OK {
				return fault.New(fault.Unavailable, "push_test", "the test push was not accepted")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration file (default "+sh.DefaultFile+" if it exists)")
	cmd.Flags().String("data-dir", sh.DataDir, "directory of the node's database, which keeps the provider token")
	cmd.Flags().StringVar(&c.Token, "token", "", "device token to send a notification to, hexadecimal")
	cmd.Flags().StringVar(&c.CA, "ca", "", "file of a certificate authority to trust besides the system's, such as the ca.pem of apns-sandbox (default cricket.push.ca_file)")
	cli.OutputFlag(cmd, &output)
	return cmd
}
