// Package reference has the feed's reference data: leagues, teams, and the teams of a season. Its rules (Readings) derive the rows from what
// was read, and leave those of other programs as they are. Admins set attributes of the same rows, which the feed then no longer decides.
package reference
