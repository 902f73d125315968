# Start with "make run" and "make test"; "make" lists all targets.

GO     ?= go
TAGS   := nomsgpack
TOOL   := $(GO) tool -modfile=tools/go.mod
BIN    := bin/touchline

# Examples: make run ARGS='cricket --match 1086066 --speed 60'   make bench ARGS='-rows ^lone'
#           make gobench BENCH=Get COUNT=10                      make fuzz FUZZTIME=5m
ARGS      ?=
BENCH     ?= .
BENCHTIME ?= 1s
COUNT     ?= 1
FUZZTIME  ?= 30s
N         ?= 500
SEEDS     ?= 2000
SEED0     ?= 1

# The binary is static; only the race detector needs cgo.
export CGO_ENABLED = 0

# The binary contains its commit; a tree without git builds too.
BUILDVCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)

# The folders with Go code, for the greps below.
CODE := $(wildcard cmd edge httpapi internal migrations store sync)

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@echo 'touchline: make TARGET'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: build ## build and start all applications, with a recorded match played live, on http://127.0.0.1:8080 (ARGS=...)
	@exec $(BIN) demo $(ARGS)

.PHONY: test
test: need-go ## test every package, with the race detector if there is a C compiler (6 to 12 minutes on two cores)
	@GO='$(GO)' TAGS='$(TAGS)' $(SHELL) tools/test.sh fast

.PHONY: test-long
test-long: need-go ## run the long tests: every recorded match, many seeds, fleets, other DynamoDB clients (15 to 20 minutes)
	@GO='$(GO)' TAGS='$(TAGS)' $(SHELL) tools/test.sh long

.PHONY: test-all
test-all: test test-long ## run all tests

.PHONY: check
check: need-go ## check go.mod, format and lint, build, run the benchmarks once, test
	@$(GO) mod tidy -diff
	@$(MAKE) lint build
	@$(MAKE) bench-once
	@$(MAKE) test

.PHONY: build
build: need-go ## build bin/touchline: static, stripped, with its version inside
	@sh tools/aloud.sh 'building $(BIN): the first build fetches modules and compiles everything, which takes some minutes; later builds take seconds' \
		$(GO) build -buildvcs=$(BUILDVCS) -trimpath -tags '$(TAGS)' -ldflags '-s -w' -o $(BIN) ./cmd/touchline

.PHONY: bench
bench: need-go ## measure the targets of docs/PERFORMANCE.md (eight minutes; ARGS='-quick', '-rows regexp', '-o json')
	@$(GO) build -buildvcs=$(BUILDVCS) -trimpath -tags '$(TAGS)' -o bin/bench ./internal/tools/bench
	@exec bin/bench $(ARGS)

.PHONY: bench-api
bench-api: need-go build ## measure the DynamoDB endpoint beside DynamoDB Local, dynalite and a canned server (ARGS='-quick', '-rows regexp', '-o json')
	@$(GO) build -buildvcs=$(BUILDVCS) -trimpath -tags '$(TAGS)' -o bin/bench-api ./internal/tools/benchapi
	@exec bin/bench-api $(ARGS)

.PHONY: bench-sync
bench-sync: need-go ## measure how fast queued writes drain into DynamoDB Local, beside the bare SDK client (ARGS='-writes 20000', '-mixes usual')
	@$(GO) build -buildvcs=$(BUILDVCS) -trimpath -tags '$(TAGS)' -o bin/bench-sync ./internal/tools/benchsync
	@exec bin/bench-sync $(ARGS)

.PHONY: bench-line
bench-line: need-go ## measure how far a node lags over lines that lose answers, are slow, are cut or throttle (75 seconds; ARGS='-lines lost10,slow-cut', '-for 30s')
	@$(GO) build -buildvcs=$(BUILDVCS) -trimpath -tags '$(TAGS)' -o bin/bench-line ./internal/tools/benchline
	@exec bin/bench-line $(ARGS)

.PHONY: hold
hold: need-go build ## measure whether slow or many clients keep others from a node (three minutes; ARGS='-quick', '-rows regexp', '-o json')
	@$(GO) build -buildvcs=$(BUILDVCS) -trimpath -tags '$(TAGS)' -o bin/hold ./internal/tools/hold
	@exec bin/hold $(ARGS)

.PHONY: gobench
gobench: need-go ## run the Go benchmarks (BENCH=regexp COUNT=10 BENCHTIME=1s); compare two runs with: make benchstat
	@dirs=$$(grep -rl --include='*_test.go' '^func Benchmark' $(CODE) | sed 's|^|./|; s|/[^/]*$$||' | sort -u); \
	[ -z "$$dirs" ] || $(GO) test -tags '$(TAGS)' -run '^$$' -bench '$(BENCH)' -benchmem $(SHORT) \
		-benchtime '$(BENCHTIME)' -count '$(COUNT)' -timeout 60m $$dirs

.PHONY: bench-once
bench-once: need-go ## check that the benchmarks still run: every Go benchmark once, "make bench" in small sizes
	@$(MAKE) gobench BENCHTIME=1x SHORT=-short
	@$(MAKE) bench ARGS=-quick

.PHONY: benchstat
benchstat: need-go ## compare two saved benchmark runs (OLD=file NEW=file)
	@$(TOOL) benchstat $(OLD) $(NEW)

.PHONY: fuzz
fuzz: need-go ## run every fuzz target for FUZZTIME (30s)
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' $(CODE) | sort | while IFS=: read -r file func; do \
		name=$${func#func }; echo "== $$name in $${file%/*}"; \
		$(GO) test -tags '$(TAGS)' -run '^$$' -fuzz "^$$name\$$" -fuzztime '$(FUZZTIME)' "./$${file%/*}" </dev/null || exit 1; \
	done

.PHONY: crash
crash: need-go ## kill processes that use the store, N times (500); on Linux also simulate disk faults, SEEDS seeds (2000)
	@TOUCHLINE_CRASH_KILLS=$(N) $(GO) test -tags '$(TAGS)' -count 1 -timeout 2h -v -run '^TestCrash$$' ./store/internal/crash
	@[ "$$($(GO) env GOOS)" != linux ] || { simulated=$$($(GO) run ./internal/tools/simdisk bin/simdisk) && \
		$(GO) test -tags '$(TAGS),simdisk' $$simulated -count 1 -timeout 2h -v -run '^TestSimulatedDisk' ./store/internal/crash -sim.seeds $(SEEDS); }

.PHONY: replay-seeds
replay-seeds: need-go ## replay recorded matches with feed faults, SEEDS times (2000), starting at seed SEED0 (1)
	@$(GO) test -c -tags '$(TAGS),long' -o bin/replay-seeds.test ./edge/cricket/cricketapp
	@cd edge/cricket/cricketapp && TOUCHLINE_REPLAY_SEEDS='$(SEEDS)' TOUCHLINE_REPLAY_SEED0='$(SEED0)' GOGC=400 \
		../../../bin/replay-seeds.test -test.timeout 24h -test.run '^TestReplayUnderFaults$$'

.PHONY: mutants
mutants: need-go ## plant each mutant of docs/mutants.md alone and check that a test or up to SEEDS seeds (2000) of the simulation notice it
	@$(GO) run ./internal/tools/mutants -tags '$(TAGS)' -seeds '$(SEEDS)' $(ARGS)

.PHONY: sim
sim: need-go ## simulate nodes, a cloud and their faults, SEEDS times (2000), starting at seed SEED0 (1); SEEDS=1 replays one
	@$(GO) test -c -tags '$(TAGS)' -o bin/sim.test ./sync/replica/simulation
	@cd sync/replica/simulation && TOUCHLINE_SIM_SEEDS='$(SEEDS)' TOUCHLINE_SIM_SEED0='$(SEED0)' \
		../../../bin/sim.test -test.timeout 24h -test.v -test.run '^TestSimulation$$'

.PHONY: sim-page
sim-page: need-go ## simulate the scripts of pages, SEEDS times (2000), starting at seed SEED0 (1); SEEDS=1 replays one (needs Node.js)
	@TOUCHLINE_PAGE_SEEDS='$(SEEDS)' TOUCHLINE_PAGE_SEED0='$(SEED0)' $(GO) test -tags '$(TAGS)' -count 1 -timeout 24h -v -run '^TestSeeds$$' ./httpapi/page/simulation

.PHONY: finger
finger: need-go ## play a hall that goes dark, with browsers, nodes and a cloud, SEEDS times (2000), starting at seed SEED0 (1); half a minute each (needs Chromium and Java)
	@$(GO) test -c -tags '$(TAGS),long' -o bin/finger.test ./cmd/touchline
	@cd cmd/touchline && TOUCHLINE_FINGER_SEEDS='$(SEEDS)' TOUCHLINE_FINGER_SEED0='$(SEED0)' \
		../../bin/finger.test -test.timeout 24h -test.v -test.run '^TestFromFingerToFinger$$'

.PHONY: corpus
corpus: need-go ## save the inputs that fuzzing found beside the tests
	@$(GO) run ./internal/tools/corpus "$$($(GO) env GOCACHE)/fuzz/$$($(GO) list -m)" \
		$$(grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' $(CODE) | sort | sed 's|/[^/]*:func |/|')

.PHONY: vuln
vuln: need-go ## report known vulnerabilities in what the node and its tools are built of (needs vuln.go.dev)
	@$(TOOL) govulncheck -tags '$(TAGS)' ./...
	@cd tools && $(GO) tool govulncheck tool

.PHONY: stats
stats: need-go ## count how the code is named and shaped (ARGS=-list: the names that say too little)
	@$(GO) run ./internal/tools/codestats $(ARGS)

.PHONY: release
release: need-go ## prepare a version: head the unreleased part of docs/CHANGELOG.md (VERSION=v1.2.3)
	@[ -n '$(VERSION)' ] || { echo 'which version? make release VERSION=v1.2.3' >&2; exit 2; }
	@[ -z "$$(git status --porcelain)" ] || { echo 'there are uncommitted changes: commit them first' >&2; exit 1; }
	@$(GO) run ./internal/tools/release '$(VERSION)'

.PHONY: lint
lint: need-go ## check the format and the rules of .golangci.yml
	@$(TOOL) golangci-lint run ./...

.PHONY: fmt
fmt: need-go ## format the Go files
	@$(TOOL) golangci-lint fmt ./...

.PHONY: tidy
tidy: need-go ## bring go.mod and tools/go.mod in line with the imports
	@$(GO) mod tidy
	@cd tools && $(GO) mod tidy

.PHONY: clean
clean: ## remove bin and dist
	@rm -rf bin dist

# Check the Go version first, for a clear error. An older go fetches the right toolchain by itself unless GOTOOLCHAIN forbids it;
# then "go env" fails or prints the old version. This needs only a shell and coreutils.
.PHONY: need-go
need-go:
	@while read -r word version; do [ "$$word" != go ] || need=$$version; done <go.mod; \
	command -v $(GO) >/dev/null 2>&1 || { \
		echo "touchline needs Go $$need or newer, and '$(GO)' is not on the PATH: https://go.dev/dl/" >&2; exit 1; }; \
	have=$$($(GO) env GOVERSION 2>/dev/null); have=$${have##*go}; \
	[ -n "$$have" ] && [ "$$(printf '%s\n' "$$need" "$${have%% *}" | sort -V | head -n 1)" = "$$need" ] || { \
		echo "touchline needs Go $$need or newer; this is $$(GOTOOLCHAIN=local $(GO) version 2>&1 | head -n 1)," >&2; \
		echo "and a newer one was not fetched (GOTOOLCHAIN, network): https://go.dev/dl/" >&2; exit 1; }
