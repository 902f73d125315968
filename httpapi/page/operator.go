package page

// OperatorInput is the content of the Status page: problems, and tables of figures.
type OperatorInput struct {
	At       string   // the node's time of day
	Problems []string // in plain words, worst first; none: all is well
	Tables   []Table
}

// Table is a titled table.
type Table struct {
	ID, Title string
	Heads     []string
	Rows      [][]string
	None      string // shown if there are no rows
}

// Operator renders the Status page.
func (r *Renderer) Operator(in OperatorInput) (View, error) {
	v, err := r.Parts(View{}, "Status", []Block{{"hub", in}})
	v.Kind = "hub"
	return v, err
}
