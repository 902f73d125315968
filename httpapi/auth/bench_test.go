package auth

import (
	"fmt"
	"testing"
)

// The cost of one request: of a returning user, of a new one, and of an attacker.
func BenchmarkVerify(b *testing.B) {
	r := newRig(b)
	good := r.good().token()
	if _, err := r.Verify(b.Context(), good); err != nil {
		b.Fatal(err)
	}
	fresh := make([]string, 64)
	for i := range fresh {
		fresh[i] = r.good().with("sub", fmt.Sprint("u", i)).token()
	}
	for name, run := range map[string]func(i int) error{
		"seen": func(int) error { _, err := r.Verify(b.Context(), good); return err },
		"new":  func(i int) error { _, _, err := r.verifyToken(b.Context(), fresh[i%len(fresh)], nil); return err },
		"signature": func(i int) error {
			return refused(r.Verify(b.Context(), fresh[i%len(fresh)][:len(good)-8]+fmt.Sprintf("%08d", i%1e8)))
		},
		"unknown kid": func(i int) error {
			return refused(r.Verify(b.Context(), r.good().head("kid", fmt.Sprint(i)).unsigned()+".AAAA"))
		},
		"no token": func(i int) error { return refused(r.Verify(b.Context(), fmt.Sprint(i))) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := run(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func refused(id Identity, err error) error {
	if err == nil {
		return fmt.Errorf("accepted as %+v", id)
	}
	return nil
}
