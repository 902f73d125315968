//go:build !(386 || arm || mips || mipsle)

package file

// defaultMapSize is reserved address space: until the file is that large, the map never moves, which would have to wait for every reader.
const defaultMapSize = 1 << 30
