package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/touchline/touchline/internal/testrig/wait"
)

// prompted calls then when something is written.
type prompted func()

func (then prompted) Write(p []byte) (int, error) {
	then()
	return len(p), nil
}

// The first interrupt ends a question at the terminal, and no answer but yes is one.
func TestConflictsAskAtATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		typed     string // empty: an interrupt
		confirmed bool
	}{
		"interrupted": {"", false}, "yes": {"yes\n", true}, "upper case": {"Y\n", true}, "no": {"n\n", false}, "no answer": {"y\x04\x04", false},
	} {
		t.Run(name, func(t *testing.T) {
			keyboard, terminal := openTerminal(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			cmd := newConflictsDecide("retry", "", "")
			cmd.SetContext(ctx)
			cmd.SetIn(terminal)
			cmd.SetErr(prompted(func() {
				if c.typed == "" {
					interrupt()
				} else if _, err := io.WriteString(keyboard, c.typed); err != nil {
					t.Error(err)
				}
			}))
			type outcome struct {
				ok  bool
				err error
			}
			done := make(chan outcome, 1)
			go func() {
				ok, err := askConfirmation(cmd, "retry", []string{"1"})
				done <- outcome{ok, err}
			}()
			got, _ := wait.Receive(t, "the command has its answer", done)
			if got.ok != c.confirmed || errors.Is(got.err, context.Canceled) != (c.typed == "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// openTerminal opens a pseudoterminal: what is written to keyboard is typed at terminal.
func openTerminal(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminal: ", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return keyboard, terminal
}
