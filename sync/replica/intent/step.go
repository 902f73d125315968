package intent

// step is what a unit does beside sending its operation.
type step uint8

const (
	stepNone step = iota
)

// met is what a step is about.
type met struct{}
