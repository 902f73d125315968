package connlimit

// How many files the node itself keeps open: its database, sockets, and connections to feed, push service and cloud.
const (
	leastReserve = 24
	mostReserve  = 512
	leastShare   = 4
)

// Share divides the files that a process may have open among its ports, after a reserve for the node. wanted is what each port asks for.
// A negative number of files means no known limit.
func Share(files int, wanted ...int) []int {
	out := append([]int{}, wanted...)
	sum := 0
	for _, n := range wanted {
		sum += n
	}
	room := files - min(max(files/4, leastReserve), mostReserve)
	if files < 0 || sum <= room {
		return out
	}
	for i, n := range wanted {
		if n > 0 {
			out[i] = min(n, max(leastShare, int(int64(room)*int64(n)/int64(sum))))
		}
	}
	return out
}
