//go:build !long

package simulation

// usualSeeds is how many seeds are played if nobody asks for another number.
const usualSeeds = 200
