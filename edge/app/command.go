package app

import "github.com/spf13/cobra"

// Shell is what the command line provides to an application's commands.
type Shell struct {
	Version     string
	DefaultFile string // default configuration file
	DataDir     string // default data directory
	// Load reads the configuration named by a command's flags (or file, if not empty). It returns the node's data directory and the
	// application's settings.
	Load func(cmd *cobra.Command, file, application string) (dataDir string, s Settings, err error)
}

// Commands are the commands that an application adds to the command line.
type Commands struct {
	Own     []*cobra.Command // below the application's name: touchline NAME ...
	Demo    *Demo            // touchline demo; nil: no demo
	Root    []*cobra.Command // touchline ...: stand-alone tools
	Migrate []*cobra.Command // touchline migrate ...: data of earlier versions
}
