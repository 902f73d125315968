package threefcapp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const (
	pathExport = "/threefc/export"
	pathImport = "/threefc/import"
)

// asked is what a command wants: a season to export, or a file to import.
type asked struct {
	Season string `json:"season,omitempty"`
	File   string `json:"file,omitempty"`
}

// imported is what came of an import.
type imported struct {
	Rows int `json:"rows"`
	Made int `json:"made"`
}

// adminCommands are the same commands at the socket of a node that runs.
func adminCommands(service *threefc.Service, s *store.Store) []admin.Command {
	on := func(path string) admin.Command {
		return admin.Command{Path: path, Do: func(ctx context.Context, raw json.RawMessage, _ func(admin.Progress)) (any, error) {
			var ask asked
			if err := json.Unmarshal(raw, &ask); err != nil {
				return nil, fault.New(fault.Invalid, "validation", "the body is not the expected JSON object: %v", err)
			}
			return do(ctx, path, ask, service, s)
		}}
	}
	return []admin.Command{on(pathExport), on(pathImport)}
}

func do(ctx context.Context, path string, ask asked, service *threefc.Service, s *store.Store) (out any, err error) {
	if path == pathExport {
		err = s.View(ctx, func(tx *store.Tx) (err error) {
			out, err = service.ExportSeason(tx, ask.Season)
			return err
		})
		return out, err
	}
	raw, err := os.ReadFile(ask.File)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "no_file", "cannot read %s: %s", ask.File, node.ReasonOf(err))
	}
	var f threefc.File
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_file", "%s is not an exported season", ask.File)
	}
	err = s.Update(ctx, func(tx *store.Tx) error {
		made, err := service.ImportSeason(tx, &f)
		out = imported{Rows: len(f.Rows), Made: made}
		return err
	})
	return out, err
}

// commands are the application's: export and import of a season, and its demo.
func commands(sh *app.Shell) app.Commands {
	return app.Commands{Own: []*cobra.Command{exportCommand(sh), importCommand(sh)}, Demo: newDemo()}
}

func exportCommand(sh *app.Shell) *cobra.Command {
	var ask asked
	cmd := &cobra.Command{
		Use: "export", Short: "Write a season with its games, rosters and goals as JSON, of a node that runs or not", Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd, sh, pathExport, ask)
		},
	}
	cmd.Flags().StringVar(&ask.Season, "season", "", "id of the season")
	cobra.CheckErr(cmd.MarkFlagRequired("season"))
	return cmd
}

func importCommand(sh *app.Shell) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Read a season that was exported; what is there already stays", Args: cli.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0]) // the node has another working directory
			if err != nil {
				return err
			}
			return run(cmd, sh, pathImport, asked{File: path})
		},
	}
}

// run does a command in the database of the configuration's directory, or has the node do it that holds it.
func run(cmd *cobra.Command, sh *app.Shell, path string, ask asked) error {
	dir, settings, err := sh.Load(cmd, "", name)
	if err != nil {
		return err
	}
	set, _ := settings.(*Settings)
	file, err := node.Database(dir)
	if err != nil {
		return err
	}
	var out any
	s, err := store.Open(file, store.Options{LockTimeout: node.HeldAfter, CompactAbove: -1})
	switch {
	case fault.Is(err, fault.Locked):
		var client *admin.Client
		if client, err = node.Ask(dir); err == nil {
			err = client.Command(cmd.Context(), path, ask, nil, &out)
		}
	case err == nil:
		out, err = do(cmd.Context(), path, ask, &threefc.Service{Table: set.Table}, s)
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
}
