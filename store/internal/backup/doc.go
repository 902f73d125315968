// Package backup copies a store in use to a file and restores a store from such a file.
package backup
