// Command simdisk prepares a build in which the files of the program lie on a simulated disk (internal/testrig/simdisk).
// It copies bbolt and a few source files of package os and of the store, puts hooks where they write, sync and name
// files, and prints the flags with which the go command builds from the copies:
//
//	go test -tags simdisk $(go run ./internal/tools/simdisk bin/simdisk) ./store/internal/crash
//
// Neither the originals nor a normal build are touched. In bbolt it also gives the loops over maps an order, so that
// one seed always makes the same file. What it looks for and does not find is an error: then a new version of these is
// to be looked at.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: simdisk <folder for the copies>")
		os.Exit(2)
	}
	flags, err := write(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "simdisk:", err)
		os.Exit(1)
	}
	fmt.Println(flags)
}
