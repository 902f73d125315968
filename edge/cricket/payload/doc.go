// Package payload makes what a phone is sent: the state that a Live Activity shows, its attributes, and the words of an
// alert, within the sizes that Apple takes.
package payload
