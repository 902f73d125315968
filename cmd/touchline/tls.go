package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
)

func newTLS() *cobra.Command {
	return cli.Group(&cobra.Command{Use: "tls", Short: "Certificates of the node's own CA"}, newTLSInit())
}

func newTLSInit() *cobra.Command {
	var f maintainFlags
	var replace bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create the node's own CA, for HTTPS in a local network",
		Long: "Create a CA in the data directory. With http.tls.mode: local the node issues itself certificates from it, for this machine's\n" +
			"names and addresses and those of http.tls.hosts, and renews them. Devices trust the node once they have installed the\n" +
			"CA: the node's page /_/tls offers it and says how. The CA can certify only these names and local networks.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(f.config, cmd.Flags())
			if err != nil {
				return err
			}
			made, err := edge.InitTLS(c.Config, replace)
			if err != nil {
				return err
			}
			return f.print(cmd, made, fmt.Sprintf("Created the CA %q, valid until %s.\n\n  certificate  %s\n  SHA-256      %s\n\n"+
				"Serve with it (http.tls.mode: local, or TOUCHLINE_HTTP__TLS__MODE=local), then open on each device:\n\n  %s\n",
				made.Title, made.ExpiresAt.Format("2 January 2006"), made.File, made.Fingerprint, made.Page))
		},
	}
	f.add(cmd)
	cmd.Flags().String("listen", edge.DefaultConfig().Listen, "address that the node serves on, for the address of the page")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace an existing CA; the new one has to be installed on every device")
	return cmd
}
