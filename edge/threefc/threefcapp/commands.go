package threefcapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/store"
)

const (
	pathExport = "/threefc/export"
	pathImport = "/threefc/import"
)

// asked holds a command's argument: a season to export or a file to import.
type asked struct {
	Season string `json:"season,omitempty"`
	File   string `json:"file,omitempty"`
}

// adminCommands returns the same commands for the admin socket of a running node.
func adminCommands(service *threefc.Service, s *store.Store) (all []admin.Command) {
	for _, path := range []string{pathExport, pathImport} {
		all = append(all, admin.Command{Path: path, Do: func(ctx context.Context, raw json.RawMessage, progress func(admin.Progress)) (any, error) {
			var ask asked
			if err := json.Unmarshal(raw, &ask); err != nil {
				return nil, fault.New(fault.Invalid, "validation", "the body is not the expected JSON object: %v", err)
			}
			return do(ctx, path, ask, service, s, progress)
		}})
	}
	return all
}

// maxImport bounds an exported season, in bytes: 300 games of 20 goals are under 3 MB.
const maxImport = 64 << 20

func do(ctx context.Context, path string, ask asked, service *threefc.Service, s *store.Store, progress func(admin.Progress)) (out any, err error) {
	if path == pathExport {
		err = s.View(ctx, func(tx *store.Tx) (err error) {
			out, err = service.ExportSeason(tx, ask.Season)
			return err
		})
		return out, err
	}
	raw, err := secretfile.ReadAny(ask.File, maxImport)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "no_file", "cannot read %s: %s", ask.File, node.ReasonOf(err))
	}
	var f threefc.File
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fault.New(fault.Invalid, "bad_file", "%s, line %d: this is not an exported season: %v. Nothing was imported.", ask.File, lineOf(raw, offsetOf(err)), err)
	}
	done, err := service.ImportSeason(ctx, s, &f, func(done, total int64) {
		progress(admin.Progress{What: "import", Done: done, Total: total})
	})
	if bad, ok := errors.AsType[*threefc.FileError](err); ok && fault.Is(err, fault.Invalid) {
		err = fault.New(fault.Invalid, "bad_file", "%s, line %d: %v", ask.File, lineOf(raw, offsetOfRow(raw, bad.Row)), bad.Err)
	}
	return done, err
}

// offsetOf returns where in a JSON text an error of decoding it is.
func offsetOf(err error) int64 {
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return bad.Offset
	}
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return bad.Offset
	}
	return 0
}

// offsetOfRow returns where the n-th row, from 0, of an exported season begins in its text.
func offsetOfRow(raw []byte, n int) int64 {
	d := json.NewDecoder(bytes.NewReader(raw))
	for name, depth := "", 0; ; {
		token, err := d.Token()
		if err != nil {
			return 0
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if text, ok := token.(string); ok && depth == 1 {
			name = text
		}
		if token != json.Delim('[') || depth != 2 || !strings.EqualFold(name, "rows") {
			continue
		}
		var row json.RawMessage
		for range n {
			if err := d.Decode(&row); err != nil {
				return 0
			}
		}
		end := d.InputOffset()
		return end + int64(len(raw[end:])-len(bytes.TrimLeft(raw[end:], ", \t\r\n")))
	}
}

// lineOf returns the line, from 1, of an offset in a text.
func lineOf(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(offset, int64(len(raw)))], []byte("\n"))
}

// commands returns the application's commands: export and import of a season, and the demo.
func commands(sh *app.Shell) app.Commands {
	var season string
	exports := command(sh, "export", "Write a season with its games, rosters and goals as JSON, whether or not the node is running", cobra.NoArgs,
		func([]string) (string, asked, error) { return pathExport, asked{Season: season}, nil })
	exports.Flags().StringVar(&season, "season", "", "id of the season")
	cobra.CheckErr(exports.MarkFlagRequired("season"))
	imports := command(sh, "import FILE", "Import an exported season; existing rows stay as they are", cobra.ExactArgs(1),
		func(args []string) (string, asked, error) {
			path, err := filepath.Abs(args[0]) // the node has another working directory
			return pathImport, asked{File: path}, err
		})
	return app.Commands{Own: []*cobra.Command{exports, imports}, Demo: newDemo()}
}

// command returns a command that works on the configured database, or asks the running node that holds it.
func command(sh *app.Shell, use, short string, args cobra.PositionalArgs, what func(args []string) (path string, ask asked, err error)) *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cli.Usage(args),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, ask, err := what(args)
			if err != nil {
				return err
			}
			dir, settings, err := sh.Load(cmd, config, name)
			if err != nil {
				return err
			}
			set, _ := settings.(*Settings)
			var out any
			m := cli.NewMeter(cmd)
			progress := func(p admin.Progress) { m.ShowProgress(p.What, p.Done, p.Total) }
			err = node.OnDatabase(dir, func(s *store.Store) (err error) {
				out, err = do(cmd.Context(), path, ask, &threefc.Service{Handle: threefc.Rows(set.Table)}, s, progress)
				return err
			}, func(c *admin.Client) error { return c.Command(cmd.Context(), path, ask, progress, &out) })
			_ = m.End(nil) // an interrupted import, unlike other commands, may have written something
			if errors.Is(err, context.Canceled) {
				err = fault.Wrap(err, fault.Unavailable, "interrupted", "interrupted: run the command again for the rest")
			}
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "configuration file (default "+sh.DefaultFile+" if it exists)")
	cmd.Flags().String("data-dir", sh.DataDir, "directory of the node's database")
	return cmd
}
