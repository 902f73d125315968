// Command simdisk prepares a build in which the program's files are on a simulated disk (internal/testrig/simdisk). It copies bbolt and a
// few source files of package os and of the store, adds hooks where they write, sync and name files, and prints the flags with which the
// go command builds from the copies:
//
//	go test -tags simdisk $(go run ./internal/tools/simdisk bin/simdisk) ./store/internal/crash
//
// Neither the originals nor a normal build are affected. In bbolt it also gives loops over maps a fixed order, so that a seed always
// produces the same file. The changes are in folder overlay. If an old text is not found, that is an error: then the changes must be adapted
// to a new version.
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
