// Package catalogue is the tables: what is declared of them, how their keys and index entries are made, and how all that lies in
// the file.
package catalogue
