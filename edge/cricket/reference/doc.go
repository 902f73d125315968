// Package reference keeps what the feed lists whether or not anybody plays: leagues, teams, and the teams of a season. A
// sync and an admin write the same row, each its own attributes.
package reference
