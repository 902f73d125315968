package migrations

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
)

// compare returns all differences between a table in the cloud and its declaration.
func compare(want *CloudTable, have *CloudState) []CloudDifference {
	out := keyDifferences("", want.Key, have.Key)
	foreign := len(out) > 0
	for _, x := range want.Indexes {
		out = append(out, indexDifferences(want, x, have)...)
	}
	for _, x := range have.Indexes {
		if !slices.ContainsFunc(want.Indexes, hasName(x.Name)) {
			out = append(out, CloudDifference{
				What: "index " + x.Name, Have: "present", Want: "absent: it costs write units, and no application reads it", Harmless: true,
			})
		}
	}
	out = append(out, expiryDifference(want, have)...)
	out = append(out, streamDifference(want, have)...)
	if !have.OnDemand {
		out = append(out, CloudDifference{
			What: "billing", Have: "by provisioned units", Want: "by the request: a node that comes back from being offline sends all at once",
			Harmless: true,
		})
	}
	if foreign { // the table holds something else, which TTL could delete
		for i := range out {
			out[i].Addable = false
		}
	}
	return out
}

func hasName(name string) func(store.IndexSpec) bool {
	return func(x store.IndexSpec) bool { return x.Name == name }
}

// keyDifferences compares the keys of a table or an index. prefix names the index and is empty for the table, whose key cannot be
// changed.
func keyDifferences(prefix string, want, have store.KeySpec) (out []CloudDifference) {
	for _, part := range []struct {
		what       string
		want, have []store.KeyAttr
	}{
		{"partition key", want.PartitionAttrs(), have.PartitionAttrs()}, {"sort key", want.SortAttrs(), have.SortAttrs()},
	} {
		if !slices.Equal(part.want, part.have) {
			out = append(out, CloudDifference{What: prefix + part.what, Have: keyText(part.have), Want: keyText(part.want), Fixed: prefix == ""})
		}
	}
	return out
}

func keyText(attrs []store.KeyAttr) string {
	var texts []string
	for _, a := range attrs {
		if a.Name != "" {
			texts = append(texts, fmt.Sprintf("%s (%c)", a.Name, a.Type))
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

func indexDifferences(t *CloudTable, want store.IndexSpec, state *CloudState) []CloudDifference {
	i := slices.IndexFunc(state.Indexes, hasName(want.Name))
	what := "index " + want.Name
	if i < 0 {
		d := CloudDifference{What: what, Have: "missing", Want: indexText(want), Addable: !want.Local, Fixed: want.Local}
		d.add = func(ctx context.Context, cloud Cloud) error { return cloud.AddIndex(ctx, t.TableSpec, want) }
		return []CloudDifference{d}
	}
	have := state.Indexes[i]
	out := keyDifferences(what+", ", want.Key, have.Key)
	if want.Local != have.Local {
		out = append(out, CloudDifference{What: what, Have: placeText(have), Want: placeText(want)})
	}
	if h, w := projectionText(have), projectionText(want); h != w {
		out = append(out, CloudDifference{
			What: what + ", projection", Have: h, Want: w, Harmless: have.Projection == store.ProjectAll,
		})
	}
	if slices.Contains(state.Building, want.Name) {
		out = append(out, CloudDifference{What: what, Have: "being filled", Want: "ready", Harmless: true})
	}
	return out
}

func indexText(x store.IndexSpec) string {
	key := keyText(x.Key.PartitionAttrs())
	if sort := x.Key.SortAttrs(); len(sort) > 0 {
		key += ", sorted by " + keyText(sort)
	}
	return fmt.Sprintf("%s on %s with %s", placeText(x), key, projectionText(x))
}

func placeText(x store.IndexSpec) string {
	if x.Local {
		return "local"
	}
	return "global"
}

func projectionText(x store.IndexSpec) string {
	switch x.Projection {
	case store.ProjectKeysOnly:
		return "the keys alone"
	case store.ProjectInclude:
		names := slices.Clone(x.Include)
		slices.Sort(names)
		return "the keys and " + strings.Join(names, ", ")
	}
	return "all attributes"
}

const whatExpiry = "expiry (TTL)"

func expiryDifference(want *CloudTable, have *CloudState) []CloudDifference {
	if want.TTL == have.TTL {
		return nil
	}
	d := CloudDifference{What: whatExpiry, Have: orNone(have.TTL), Want: orNone(want.TTL), Addable: have.TTL == ""}
	d.add = func(ctx context.Context, cloud Cloud) error { return cloud.SetExpiry(ctx, want.Name, want.TTL) }
	return []CloudDifference{d}
}

func orNone(attribute string) string {
	if attribute == "" {
		return "none"
	}
	return "by " + attribute
}

func streamDifference(want *CloudTable, have *CloudState) []CloudDifference {
	if !want.Stream || have.Stream == StreamBoth {
		return nil
	}
	d := CloudDifference{What: "stream", Have: have.Stream, Want: StreamBoth, Addable: have.Stream == ""}
	if d.Have == "" {
		d.Have = "none"
	}
	d.add = func(ctx context.Context, cloud Cloud) error { return cloud.SetStream(ctx, want.Name) }
	return []CloudDifference{d}
}
