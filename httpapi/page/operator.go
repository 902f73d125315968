package page

// OperatorInput is the content of the Status page: problems, and tables of figures.
type OperatorInput struct {
	At       string   // the node's time of day
	Problems []string // in plain words, worst first; none: all is well
	Damages  []DamageForm
	Counted  []Counted // about rows that applications count
	Games    []Counted // that are not all in the cloud
	Tables   []Table
}

// DamageForm is the form with which an admin says that a damage of the database was read.
type DamageForm struct {
	ID    int64
	Found string // when
}

// Counted is a line about rows that an application counts, or about a game.
type Counted struct {
	Text string
	Href string // of the page on which the rows can be recounted, or that of the game; empty: none
}

// RecountInput is the content of the page that shows differences before they are recounted.
type RecountInput struct {
	Action string // address of the form
	Title  string // of the application
	Name   string // of the kind of rows
	Seen   string
	Rows   []RecountRow
	More   int
	Held   []string // sentences
}

// RecountRow is a row as it is, and as the node counts it.
type RecountRow struct{ Row, Is, Shall string }

// Recount renders the page.
func (r *Renderer) Recount(in RecountInput, nav *Nav) ([]byte, error) {
	return r.RenderStill("recount", "Recount", in, nav)
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
