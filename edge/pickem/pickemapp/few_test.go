//go:build !long

package pickemapp

const apartChecks = "3"
