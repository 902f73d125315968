// Package reference keeps the feed's reference data: leagues, teams, and the teams of a season. The sync and
// admins write different attributes of the same rows.
package reference
