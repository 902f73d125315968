package node

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// logUnreadable logs once each row that an application cannot decode. It does not log the key, which may hold an address or a code.
func logUnreadable(s *store.Store, log *slog.Logger) {
	s.OnUnreadable(func(u store.Unreadable) {
		log.Error("a stored row cannot be read and is left out; the Status page names it", "table", u.Table, "err", u.Why)
	})
}

// leftOut returns what the node leaves out. If the store cannot be read it is empty: the store's check reports that.
func (n *Node) leftOut(ctx context.Context) (out operator.LeftOut) {
	rows, more, err := n.store.UnreadableItems(ctx)
	skips := 0
	for _, c := range n.consumers {
		skips += len(c.skippedRecords())
	}
	if err != nil || len(rows)+skips == 0 {
		return out
	}
	out.Rows, out.More = len(rows), more
	err = n.store.View(ctx, func(tx *store.Tx) error {
		for i := range rows {
			u := &rows[i]
			out.Shown = append(out.Shown, operator.LeftOutRow{Table: u.Table, Row: n.shownKey(tx, u.Table, u.Key), Why: u.Why, Since: u.Since})
		}
		for _, c := range n.consumers {
			for _, r := range c.skippedRecords() {
				out.Records++
				row := operator.LeftOutRow{Table: r.Table, Row: n.shownKey(tx, r.Table, r.Key), Consumer: c.cursor, Why: r.Why, Since: r.Since}
				if r.Table == "" {
					row.Table, row.Row = strings.Join(c.Tables, ", "), "all rows"
				}
				out.Shown = append(out.Shown, row)
			}
		}
		return nil
	})
	if err != nil {
		return operator.LeftOut{}
	}
	slices.SortStableFunc(out.Shown, func(a, b operator.LeftOutRow) int {
		return cmp.Or(strings.Compare(a.Consumer, b.Consumer), strings.Compare(a.Table, b.Table), strings.Compare(a.Row, b.Row))
	})
	out.Shown = out.Shown[:min(len(out.Shown), operator.LeftOutShown)]
	return out
}

// shortened is the number of hexadecimal digits from which a part of a key may be a token: that of a phone has 64.
const shortened = 40

// shownKey returns a key for people: its values, partition first. Of a secret key it shows only the beginning.
func (n *Node) shownKey(tx *store.Tx, name string, key attr.Item) string {
	d, err := n.store.Describe(name)
	if err != nil {
		return ""
	}
	var parts []string
	for _, a := range d.Spec.Key.Attrs() {
		v := key[a.Name]
		text := v.Str()
		if v.Kind() != attr.KindS {
			text = v.String()
		}
		if len(text) >= shortened && strings.Trim(text, "0123456789abcdefABCDEF") == "" { // a token
			text = text[:8] + "…"
		}
		parts = append(parts, text)
	}
	text := strings.Join(parts, " ")
	if n.isSecret(tx, name, key) {
		kind, _, _ := strings.Cut(text, "#")
		return kind + "#…"
	}
	return fmt.Sprintf("%.200s", text)
}

// isSecret reports whether an application keeps an item to its owner. An item of which that is not known counts as secret.
func (n *Node) isSecret(tx *store.Tx, name string, key attr.Item) bool {
	for _, shared := range n.shared {
		if secret := shared.Secret[name]; secret != nil {
			is, err := secret(tx, key)
			return is || err != nil
		}
	}
	return false
}
