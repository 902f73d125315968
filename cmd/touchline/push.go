package main

import (
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/fault"
)

func newPush() *cobra.Command {
	cmd := &cobra.Command{
		Use: "push", Short: "Test the connection to Apple's push service", Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPushTest())
	return cmd
}

func newPushTest() *cobra.Command {
	var path, output string
	var c edge.PushTestConfig
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Send one push with the configured settings, and explain the answer",
		Long: "Send one push with the host, key, key id, team id and bundle id of the configuration, and explain the\n" +
			"answer. With --token a device gets a notification; without it a made-up token is used, which Apple refuses only\n" +
			"if everything else is right, so no phone is disturbed. It uses the provider token of the node with that data directory\n" +
			"(a running node sends it itself), because Apple accepts a new token only every 20 minutes. Exit code 1 if something is wrong.",
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := load(path, cmd.Flags())
			if err != nil {
				return err
			}
			c.Push, c.Dir = loaded.Cricket.Push, loaded.DataDir
			res, err := edge.PushTest(cmd.Context(), c)
			if err != nil {
				return err
			}
			if output == "json" {
				err = res.JSON(cmd.OutOrStdout())
			} else {
				err = res.Print(cmd.OutOrStdout())
			}
			if err == nil && !res.OK {
				return fault.New(fault.Unavailable, "push_test", "the test push was not accepted")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration file (default "+defaultFile+" if it exists)")
	cmd.Flags().String("data-dir", edge.DefaultConfig().DataDir, "directory of the node's database, which keeps the provider token")
	cmd.Flags().StringVar(&c.Token, "token", "", "device token to send a notification to, hexadecimal")
	cmd.Flags().StringVar(&c.CA, "ca", "", "file of a certificate authority to trust besides the system's, such as the ca.pem of apns-sandbox (default cricket.push.ca_file)")
	outputFlag(cmd, &output)
	return cmd
}
