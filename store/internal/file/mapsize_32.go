//go:build 386 || arm || mips || mipsle

package file

// defaultMapSize leaves the rest of a 32-bit address space to the process.
const defaultMapSize = 256 << 20
