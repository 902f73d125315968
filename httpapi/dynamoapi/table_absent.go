package dynamoapi

// absent returns why a member of CreateTable or UpdateTable cannot be granted, "" for any other member. To take it and do
// nothing would promise copies and guards that are not there.
func absent(member string) (why string) {
	switch member {
	case "GlobalTableSettingsReplicationMode", "GlobalTableSourceArn", "GlobalTableWitnessUpdates", "MultiRegionConsistency",
		"ReplicaUpdates", "DisassociationProtectionEnabled":
		return "there are no global tables here"
	case "VectorIndexes", "VectorIndexUpdates":
		return "there are no vector indexes here"
	case "ResourcePolicy":
		return "there are no resource policies here; the file of access keys says what each key may do"
	}
	return ""
}

func errAbsent(member, why string) error { return errWrong("%s is not supported: %s", member, why) }
