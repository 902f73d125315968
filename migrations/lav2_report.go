package migrations

// LAv2Options say what a run may do.
type LAv2Options struct {
	Apply   bool // write; else only tell what would be written
	DropOld bool // after a complete run, drop the old tables; without Apply, tell which would be dropped

	// Progress is told after each batch: the old table, how many of its rows were looked at, and how many there are,
	// 0 while nobody knows.
	Progress func(table string, done, total int64)
	// Batch is how many old rows a transaction takes; 0 means 200.
	Batch int
}

// LAv2Report is what a run did, or would do.
type LAv2Report struct {
	Applied bool `json:"applied"`
	Resumed bool `json:"resumed"` // it went on where an earlier run was interrupted, whose counts are in these

	// Complete: every row of every old table was looked at.
	Complete bool        `json:"complete"`
	Tables   []LAv2Table `json:"tables"` // the old tables that there are
	Total    LAv2Counts  `json:"total"`
	KeptOld  string      `json:"keptOld,omitempty"` // why the old tables were not dropped although that was asked for
}

// LAv2Table is what became of one old table.
type LAv2Table struct {
	Table   string `json:"table"`
	Becomes string `json:"becomes"` // "" for a table that has nothing after it
	LAv2Counts
	Dropped bool `json:"dropped"` // or would be
}

// LAv2Counts count old rows. Read is the sum of the others.
type LAv2Counts struct {
	Read         int64            `json:"read"`
	Written      int64            `json:"written"`      // new rows made of them
	AlreadyThere int64            `json:"alreadyThere"` // the new row exists, and stays as it is
	Skipped      map[string]int64 `json:"skipped"`      // by the reason
	Unreadable   map[string]int64 `json:"unreadable"`   // by what is wrong with them
}

func newCounts() LAv2Counts {
	return LAv2Counts{Skipped: map[string]int64{}, Unreadable: map[string]int64{}}
}

func (c *LAv2Counts) add(o *LAv2Counts) {
	c.Read += o.Read
	c.Written += o.Written
	c.AlreadyThere += o.AlreadyThere
	for reason, n := range o.Skipped {
		c.Skipped[reason] += n
	}
	for reason, n := range o.Unreadable {
		c.Unreadable[reason] += n
	}
}

// Sum adds up the counts by reason.
func Sum(byReason map[string]int64) (n int64) {
	for _, m := range byReason {
		n += m
	}
	return n
}
