// Package payload builds what a phone is sent: the state of a Live Activity, its attributes, and the text of an
// alert, within Apple's size limits.
package payload
