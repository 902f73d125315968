//go:build !(386 || arm || mips || mipsle)

package file

// defaultMapSize is address space: with it the map need not move, and wait for every reader, while the file is small.
const defaultMapSize = 1 << 30
