// Package catalogue has the tables: their specs, how their keys and index entries are encoded, and their rows in the file.
package catalogue
