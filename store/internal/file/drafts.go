package file

// CheckSuffix is the suffix of the copy made for a check.
const CheckSuffix = ".check"

// RestoreSuffix is the suffix of a store being restored.
const RestoreSuffix = ".restore"
