//go:build !long

package hacktrackerapp

const apartChecks = "3"
