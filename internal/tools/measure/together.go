package measure

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Together calls do on count goroutines at once, with their numbers, and returns their errors after all have returned.
func Together(count int, do func(i int) error) error {
	errs := make([]error, count)
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Share calls do with the numbers below total, on count goroutines. An error ends all of them.
func Share(count, total int, do func(i int) error) error {
	var next atomic.Int64
	return Together(count, func(int) error {
		for i := int(next.Add(1)) - 1; i < total; i = int(next.Add(1)) - 1 {
			if err := do(i); err != nil {
				next.Store(int64(total))
				return err
			}
		}
		return nil
	})
}
