//go:build 386 || arm || mips || mipsle

package file

// defaultMapSize leaves most of a 32-bit address space to the rest of the process.
const defaultMapSize = 256 << 20
