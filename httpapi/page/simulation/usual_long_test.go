//go:build long

package simulation

const usualSeeds = 200 // 2,000 take half an hour
