//go:build long

package simulation

const usualSeeds = 2000
