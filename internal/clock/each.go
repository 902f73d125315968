package clock

import "sync"

// Each calls f(0) to f(n-1) on at most limit goroutines and returns when all have. It is for a joined loop: while
// it waits its workers stand in for it, so that a worker may wait on the clock (a retry, say) and time moves on,
// and time stands still between the last worker's end and the loop's next step.
func Each(c Clock, limit, n int, f func(i int)) {
	if n == 0 {
		return
	}
	workers := min(limit, n)
	jobs := make(chan int, n)
	for i := range n {
		jobs <- i
	}
	close(jobs)

	var mu sync.Mutex
	running := workers
	done := make(chan struct{})
	leaves := make([]func(), workers)
	for w := range workers {
		leaves[w] = c.Join()
	}
	last := func() {}
	for w := range workers {
		go func() {
			for i := range jobs {
				f(i)
			}
			mu.Lock()
			defer mu.Unlock()
			running--
			if running > 0 {
				leaves[w]()
				return
			}
			last = leaves[w] // held until the caller is a member again
			close(done)
		}()
	}
	c.Suspend(func() { <-done })
	last()
}
