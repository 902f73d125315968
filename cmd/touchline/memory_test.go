package main

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/touchline/touchline/internal/testrig/wait"
)

// The memory limit is the lowest of the process's control group and those above it, in both versions of control groups.
func TestGroupLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		limit int64 // 0: none
	}{
		"no control groups": {map[string]string{}, 0},
		"no limit":          {map[string]string{"proc/self/cgroup": "0::/a.slice\n", "sys/fs/cgroup/a.slice/memory.max": "max\n"}, 0},
		"systemd": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/touchline.service\n", "sys/fs/cgroup/system.slice/touchline.service/memory.max": "536870912\n",
			"sys/fs/cgroup/system.slice/memory.max": "max\n",
		}, 512 << 20},
		"a group above": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/touchline.service\n", "sys/fs/cgroup/system.slice/touchline.service/memory.max": "536870912\n",
			"sys/fs/cgroup/system.slice/memory.max": "268435456\n",
		}, 256 << 20},
		"a container of the second version": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		"a container of the first version": {map[string]string{
			"proc/self/cgroup":                             "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n0::/docker/1\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "536870912\n",
			"sys/fs/cgroup/cpu/docker/1/memory.max":        "1\n",
			"sys/fs/cgroup/memory/docker/memory.max":       "1\n",
			"sys/fs/cgroup/memory/docker/1/memory.unknown": "1\n",
		}, 512 << 20},
		"no limit in the first version": {map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0},
		"lines of another form": {map[string]string{"proc/self/cgroup": "\nmemory\n4:memory\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1\n"}, 0},
	} {
		root := fstest.MapFS{}
		for path, text := range tt.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if limit, ok := groupLimit(root); ok != (tt.limit != 0) || ok && limit != tt.limit {
			t.Errorf("%s: %d, %t", name, limit, ok)
		}
	}
}

// Go gets three quarters of what the group has. A lower limit stays, and so does one that the operator has set.
func TestLimitOfTheGroup(t *testing.T) {
	keepSettings(t)
	root := fstest.MapFS{
		"proc/self/cgroup":         &fstest.MapFile{Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max": &fstest.MapFile{Data: []byte("536870912\n")},
	}
	for _, tt := range []struct {
		before      int64
		environment string
		after       int64
		logged      string
	}{
		{math.MaxInt64, "", 384 << 20, "control group"}, {64 << 20, "", 64 << 20, "control group"}, {math.MaxInt64, "3GiB", math.MaxInt64, "3GiB"},
	} {
		t.Setenv("GOMEMLIMIT", tt.environment)
		debug.SetMemoryLimit(tt.before)
		var log strings.Builder
		limitMemory(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), root, 0)
		if got := debug.SetMemoryLimit(-1); got != tt.after || !strings.Contains(log.String(), tt.logged) {
			t.Errorf("%d, %q: %d, %s", tt.before, tt.environment, got, log.String())
		}
	}
	debug.SetMemoryLimit(math.MaxInt64)
	t.Setenv("GOMEMLIMIT", "")
	var log strings.Builder
	if limitMemory(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), fstest.MapFS{}, 0); debug.SetMemoryLimit(-1) != math.MaxInt64 || log.Len() > 0 {
		t.Errorf("without control groups: %d, %s", debug.SetMemoryLimit(-1), log.String())
	}
}

// keepSettings restores the settings of the garbage collector after the test.
func keepSettings(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(busyPercent)
	t.Cleanup(func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	})
}

// The limit of a node with the endpoint grows with its live memory and shrinks with it, within what its group has.
func TestLimitFollowsLiveMemory(t *testing.T) {
	const usual, granted = 64 << 20, 512 << 20
	keepSettings(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	root := fstest.MapFS{
		"proc/self/cgroup":         &fstest.MapFile{Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max": &fstest.MapFile{Data: []byte(strconv.Itoa(granted))},
	}
	limitMemory(ctx, slog.New(slog.DiscardHandler), root, usual)
	expect := func(what string, is func(limit int64) bool) {
		t.Helper()
		wait.Until(t, what, func() bool {
			runtime.GC()
			return is(debug.SetMemoryLimit(-1))
		}, func() any { return debug.SetMemoryLimit(-1) })
	}
	expect("the usual limit", func(limit int64) bool { return limit == usual })
	live := [][]byte{make([]byte, 100<<20)}
	expect("room for as much garbage as is live", func(limit int64) bool { return limit > 200<<20 && limit < granted/4*3 })
	live = append(live, make([]byte, 150<<20))
	expect("what the group has", func(limit int64) bool { return limit == granted/4*3 })
	runtime.KeepAlive(live)
	expect("the usual limit again", func(limit int64) bool { return limit == usual })
}
