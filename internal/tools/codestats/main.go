// Command codestats counts how Go code is named and shaped: the share of functions whose name says too little, the length of names, how
// densely code branches, functions that take and return functions, the biggest types, and the imports between two folders. The figures show
// a direction; a reader decides whether a name is good.
//
//	go run ./internal/tools/codestats
//	go run ./internal/tools/codestats -list -between edge,httpapi ~/src/other-project
//
// Tests and generated code are not counted.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	between := flag.String("between", "edge,httpapi", "count the files of each of these two folders that import packages of the other")
	list := flag.Bool("list", false, "list the functions whose name says too little")
	top := flag.Int("top", 8, "how many of the biggest types and folders to print")
	flag.CommandLine.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: codestats [-list] [-top N] [-between A,B] [FOLDER]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 1 {
		flag.Usage()
		os.Exit(2)
	}
	root := "."
	if flag.NArg() == 1 {
		root = flag.Arg(0)
	}
	a, b, ok := strings.Cut(*between, ",")
	if !ok {
		fmt.Fprintln(os.Stderr, "codestats: -between needs two folders, such as edge,httpapi")
		os.Exit(2)
	}
	counted, err := countTree(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "codestats:", err)
		os.Exit(1)
	}
	fmt.Print(counted.report(*top, a, b))
	if *list {
		fmt.Print(counted.listBareNames())
	}
}

// report returns the figures as a table. It counts the imports between the folders a and b.
func (s *stats) report(top int, a, b string) string {
	w := new(strings.Builder)
	fmt.Fprintf(w, "files                                %7d\n", s.files)
	fmt.Fprintf(w, "functions                            %7d\n", len(s.functions))
	fmt.Fprintf(w, "named by a bare particle or verb     %7.2f %%  (models: at most 0.3 %%)\n", 100*ratio(len(s.bare()), len(s.functions)))
	fmt.Fprintf(w, "mean length of a function's name     %7.1f    (models: 10 to 16)\n", s.meanNameLength())
	fmt.Fprintf(w, "branches in ten lines                %7.2f    (models: 1.0 to 2.2)\n", 10*ratio(s.branches, s.lines))
	fmt.Fprintf(w, "switches with an initializer, in 1000 functions   %5.1f\n", 1000*ratio(s.initSwitches, len(s.functions)))
	fmt.Fprintf(w, "take and return functions, in 1000 functions      %5.1f    (models: at most 0.5)\n", 1000*ratio(s.higherOrder, len(s.functions)))
	fmt.Fprintf(w, "files of %s that import %s: %d; the other way: %d\n", a, b, s.imports(a, b), s.imports(b, a))
	fmt.Fprintln(w, "types with the most methods:")
	for _, t := range largest(s.methods, top) {
		fmt.Fprintf(w, "  %5d  %s\n", t.count, t.name)
	}
	fmt.Fprintln(w, "folders with the most lines:")
	for _, f := range largest(s.folders, top) {
		fmt.Fprintf(w, "  %5d  %s\n", f.count, f.name)
	}
	return w.String()
}

// listBareNames returns the functions whose name says too little, with their places.
func (s *stats) listBareNames() string {
	w := new(strings.Builder)
	fmt.Fprintln(w, "functions whose name says too little:")
	for _, f := range s.bare() {
		fmt.Fprintf(w, "  %-24s %s\n", f.name, f.place)
	}
	return w.String()
}
