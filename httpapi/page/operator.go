package page

// OperatorInput is what the operator's page shows: what is wrong, and tables of figures.
type OperatorInput struct {
	At       string   // the node's time of day
	Problems []string // in plain words, the worst first; none: all is well
	Tables   []Table
}

// Table is one of them.
type Table struct {
	ID, Title string
	Heads     []string
	Rows      [][]string
	None      string // said where there are no rows
}

// Operator renders the operator's page.
func (r *Renderer) Operator(in OperatorInput) (View, error) {
	v, err := r.Parts(View{}, "Status", []Block{{"hub", in}})
	v.Kind = "hub"
	return v, err
}
