// Package backup copies a store in use into a file, and makes a store of such a file.
package backup
