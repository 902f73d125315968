package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

// Commands that maintain the database files.

func newBackup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Write a backup of the database to a new file",
		Long: "Write a backup of the database to a new file, by default backups/touchline-TIME.db in the data\n" +
			"directory, with its checksum beside it. A running node writes the file itself and keeps serving.",
		Args: cli.RefuseEmptyName(cobra.MaximumNArgs(1)),
	}
	return maintaining(cmd, func(ctx context.Context, dir string, args []string, progress func(edge.Progress)) (any, string, error) {
		r, err := edge.Backup(ctx, dir, strings.Join(args, ""), progress)
		if err != nil {
			return nil, "", err
		}
		return r, fmt.Sprintf("%s: %s, %d tables, journal up to %d, in %.1f s\nrestore it with: touchline restore %s --data-dir DIR\n",
			r.Path, cli.Megabytes(r.Bytes), r.Tables, r.Seq, r.TookSeconds, r.Path), nil
	})
}

func newRestore() *cobra.Command {
	var unchecked bool
	cmd := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Restore the database from a backup",
		Long: "Restore the database in the data directory from a backup. Nothing is overwritten: stop the node and move the current\n" +
			"database away first. The whole backup is verified before the database appears.",
		Args: cli.RefuseEmptyName(cobra.ExactArgs(1)),
	}
	cmd.Flags().BoolVar(&unchecked, "unchecked", false, "restore a backup whose checksum file is missing")
	return maintaining(cmd, func(ctx context.Context, dir string, args []string, progress func(edge.Progress)) (any, string, error) {
		r, err := edge.Restore(ctx, dir, args[0], unchecked, progress)
		if err != nil {
			return nil, "", err
		}
		return r, fmt.Sprintf("%s: %s, %d tables of node %s, restored as incarnation %d\n",
			r.Path, cli.Megabytes(r.Bytes), r.Tables, r.Node, r.Incarnation), nil
	})
}

func newCompact() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Return the database's unused space to the disk",
		Long: "Rewrite the database without its free pages. The node must be stopped; the disk needs room for both files. At its\n" +
			"start a node does this by itself if the file is above 256 MiB and more than half free.",
		Args: cobra.NoArgs,
	}
	return maintaining(cmd, func(ctx context.Context, dir string, _ []string, progress func(edge.Progress)) (any, string, error) {
		r, err := edge.Compact(ctx, dir, progress)
		if err != nil {
			return nil, "", err
		}
		return r, fmt.Sprintf("%s: %s before, %s now, in %.1f s\n",
			r.Path, cli.Megabytes(r.Before), cli.Megabytes(r.After), r.TookSeconds), nil
	})
}

func newCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Verify the database or a backup; exit 1 if anything is wrong",
		Long: "Verify the database or a backup: pages, items, indexes and journal. Nothing is changed. A running node\n" +
			"keeps serving; it checks a copy, which needs disk space.",
		Args: cli.RefuseEmptyName(cobra.MaximumNArgs(1)),
	}
	return maintaining(cmd, func(ctx context.Context, dir string, args []string, progress func(edge.Progress)) (any, string, error) {
		what, file := "the database in "+dir, strings.Join(args, "")
		if file != "" {
			what = file
		}
		r, err := edge.Check(ctx, dir, file, progress)
		if err != nil {
			return nil, "", err
		}
		if len(r.Problems) == 0 {
			return r, "nothing is wrong with " + what + "\n", nil
		}
		var text strings.Builder
		for _, p := range r.Problems {
			fmt.Fprintf(&text, "%s: %s\n", p.Where, p.What)
		}
		return r, text.String(), fault.New(fault.Damaged, "store_damaged", "%s in %s", operator.Count(len(r.Problems), "problem"), what)
	})
}
