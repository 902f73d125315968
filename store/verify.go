package store

import "os"

func verifyFile(f *os.File) error { return nil }
