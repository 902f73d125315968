package measure

import (
	"flag"
	"fmt"
	"regexp"
)

// Flags are what the command lines of programs that measure have in common.
type Flags struct {
	Quick bool
	Rows  *regexp.Regexp
	JSON  bool
	Dir   string
}

// ParseFlags reads a command line. flags may have been given flags of the program's own.
func ParseFlags(flags *flag.FlagSet, args []string) (set Flags, err error) {
	flags.BoolVar(&set.Quick, "quick", false, "small sizes and few rounds: shows that everything works, says little about speed")
	rows := flags.String("rows", "", "`regexp` of the rows to measure, by their ids in the first column; empty: all")
	format := flags.String("o", "text", "`format` of the tables: text or json")
	flags.StringVar(&set.Dir, "dir", "", "`folder` on the disk to measure (default the folder for temporary files, or bin/ if that is in memory)")
	if err := flags.Parse(args); err != nil {
		return set, err
	}
	if flags.NArg() > 0 {
		return set, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if *format != "text" && *format != "json" {
		return set, fmt.Errorf("-o: there is no format %q", *format)
	}
	set.JSON = *format == "json"
	if set.Rows, err = regexp.Compile(*rows); err != nil {
		return set, fmt.Errorf("-rows: %w", err)
	}
	return set, nil
}
