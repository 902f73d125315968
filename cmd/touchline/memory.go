package main

import (
	"context"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Garbage collector settings for thousands of requests per second. The live heap is a few megabytes, so Go's default, a collection at
// every doubling, takes a third of the CPU. At five times the live heap it takes a tenth, for about 15 MB more memory. Near the limit
// collections become more frequent.
const (
	busyPercent = 400
	nodeLimit   = 64 << 20 // for the endpoint in a node
	aloneLimit  = 20 << 20 // keeps the process, with its code and the mapped database, below 64 MB
)

// Go may use three quarters of the memory that the system grants to the process: the rest is for the mapped database, buffers of
// connections in the kernel, and what is allocated before a collection ends.
const (
	shareParts = 3
	shareOf    = 4
)

// limitMemory configures the garbage collector, where the operator has not. With a usual limit, that of a process with few connections, it
// collects seldom below the limit, and the limit grows with what is live. It never exceeds a share of the memory limit of the process's
// control group, as set by systemd (MemoryMax) and by containers. Without that share the collector knows only the size of the machine, lets
// garbage grow to a multiple of the live heap, and the system kills the process.
func limitMemory(ctx context.Context, log *slog.Logger, root fs.FS, usual int64) {
	if usual > 0 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(busyPercent)
	}
	if set := os.Getenv("GOMEMLIMIT"); set != "" {
		log.Info("memory limit of Go: from GOMEMLIMIT", "limit", set)
		return
	}
	most := debug.SetMemoryLimit(-1)
	if granted, ok := groupLimit(root); ok {
		most = min(most, granted/shareOf*shareParts)
		log.Info("memory limit of Go: from the control group", "granted", granted, "limit", most)
	}
	if usual == 0 {
		debug.SetMemoryLimit(most)
		return
	}
	followLive(ctx, usual, most)
}

// followLive sets the memory limit to a size that leaves room for as much garbage as there is live memory, within bounds, now and after
// each collection until ctx ends. Under a fixed limit that live memory comes close to, such as the buffers of thousands of connections,
// collections take half of the CPU.
func followLive(ctx context.Context, least, most int64) {
	if ctx.Err() != nil {
		return
	}
	limit := min(most, max(least, room()))
	if is := debug.SetMemoryLimit(-1); limit > is || limit < is/10*9 || is > most {
		debug.SetMemoryLimit(limit) // stops the world for a moment, so not for small steps down
	}
	runtime.AddCleanup(&collected{}, func(most int64) { followLive(ctx, least, most) }, most)
}

// collected is allocated to learn of the next collection.
type collected struct{ _ *byte }

// room returns what counts towards Go's memory limit, with the live heap, as of the last collection, twice: once more for garbage.
func room() int64 {
	all := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(all)
	sizes := make([]int64, len(all))
	for i := range all {
		sizes[i] = int64(all[i].Value.Uint64())
	}
	live, heap := sizes[0], sizes[2]+sizes[3]+sizes[4]+sizes[5]
	others := sizes[1] - heap
	return 2*live + others
}

// groupLimit returns the lowest memory limit of the process's control group and the groups above it, for both versions of control groups.
// ok is false if there is none, as on systems without control groups.
func groupLimit(root fs.FS) (limit int64, ok bool) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	limit = math.MaxInt64
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, found := strings.Cut(rest, ":")
		switch {
		case !found:
		case controllers == "":
			limit = min(limit, lowest(root, "sys/fs/cgroup", group, "memory.max"))
		case strings.Contains(","+controllers+",", ",memory,"):
			limit = min(limit, lowest(root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	return limit, limit < unlimited
}

// unlimited is what the first version of control groups reports without a limit, and more: no machine has that much memory.
const unlimited = 1 << 60

// lowest returns the lowest limit in the named file of a group and the groups above it. In a container the path may be that of the host,
// of which only the top is visible: it is the container's own group.
func lowest(root fs.FS, mount, group, name string) int64 {
	limit := int64(math.MaxInt64)
	for at := path.Join("/", group); ; at = path.Dir(at) {
		if text, err := fs.ReadFile(root, path.Join(mount, at, name)); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 { // or the word "max"
				limit = min(limit, n)
			}
		}
		if at == "/" {
			return limit
		}
	}
}
