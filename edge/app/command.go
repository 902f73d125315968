package app

import "github.com/spf13/cobra"

// Shell is what the command line gives to an application's commands.
type Shell struct {
	Version     string
	DefaultFile string // of the configuration
	DataDir     string // where nothing is said
	// Load reads the configuration that the flags of a command name (and file, if it is not empty). It returns the node's data
	// directory and the application's settings.
	Load func(cmd *cobra.Command, file, application string) (dataDir string, s Settings, err error)
}

// Commands are what an application adds to the command line.
type Commands struct {
	Own     []*cobra.Command // below the application's name: touchline NAME ...
	Demo    *Demo            // touchline demo; nil: there is none
	Root    []*cobra.Command // touchline ...: tools that stand for themselves
	Migrate []*cobra.Command // touchline migrate ...: data of earlier versions
}
