package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/touchline/touchline/internal/testrig/cache"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/tools/measure"
)

func startCanned(ctx context.Context) (*server, error) {
	self, err := measure.Self(ctx)
	if err != nil {
		return nil, err
	}
	s, err := serve(ctx, cannedBytes, self)
	if err == nil {
		s.empty = true
	}
	return s, err
}

// startOurs starts the endpoint, with --data and a file or with --memory.
func startOurs(ctx context.Context, binary, name string, store ...string) (*server, error) {
	args := append([]string{"dynamodb", "--listen", "127.0.0.1:0"}, store...)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return serve(ctx, name, cmd)
}

// startLocal starts a DynamoDB Local, in memory if folder is empty.
func startLocal(ctx context.Context, name, folder string) (*server, error) {
	began := time.Now()
	start := ddblocal.StartInMemory
	if folder != "" {
		start = func(ctx context.Context) (*ddblocal.Instance, error) { return ddblocal.StartOnDisk(ctx, folder) }
	}
	local, err := start(ctx)
	if err != nil {
		return nil, err
	}
	s := newServer(name, local.Addr, local.PID(), local.Kill)
	s.slow = true
	return s.answered(ctx, began)
}

const dynaliteVersion = "4.0.0"

// dynaliteProgram does the same as dynalite's command line, which cannot listen on a free port (0). Tables are ready at once.
const dynaliteProgram = `const s = require("dynalite")({createTableMs: 0})
s.listen(0, "127.0.0.1", () => console.log("127.0.0.1:" + s.address().port))`

func startDynalite(ctx context.Context) (*server, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errors.New("dynalite needs Node.js 20 or newer (Debian: apt-get install nodejs npm)")
	}
	folder, err := fetchDynalite(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, node, "-e", dynaliteProgram)
	cmd.Dir = folder
	s, err := serve(ctx, dynalite, cmd)
	if err == nil {
		s.slow, s.lacks = true, "transact"
	}
	return s, err
}

// fetchDynalite returns the folder with dynalite, and lets npm fill it if needed.
func fetchDynalite(ctx context.Context) (string, error) {
	return cache.Folder(ctx, "dynalite-"+dynaliteVersion, func(ctx context.Context, dir string) error {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return errors.New("dynalite comes by npm (Debian: apt-get install npm)")
		}
		// In memory it needs nothing that an install script would build.
		_, err = cache.Run(ctx, dir, npm, "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund",
			"dynalite@"+dynaliteVersion)
		if err != nil {
			return fmt.Errorf("dynalite cannot be downloaded: %w", err)
		}
		return nil
	})
}
