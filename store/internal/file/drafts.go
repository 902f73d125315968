package file

// CheckSuffix ends the name of the copy that is checked.
const CheckSuffix = ".check"

// RestoreSuffix ends the name of a store that is being restored.
const RestoreSuffix = ".restore"
