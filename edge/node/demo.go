package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Demo shows one application: a node on this machine, without a cloud and with an empty store at each start, at which the demo's
// users sign in with a button each.
type Demo struct {
	App         *app.App
	Short, Long string // of its command
	Users       []devlogin.User
	// Fill has data there before the node serves; nil: the tables are empty. It is called by App.Open, after the application is
	// open. What is to happen while the node runs is a loop of the application.
	Fill func(ctx context.Context, h *app.Host) error
}

// demoRun is a demo as its command was called.
type demoRun struct {
	*Demo
	listen string
	speed  float64
	quiet  bool
	out    io.Writer
}

// Command is `touchline demo NAME`, for app.Commands.Demo.
func (d *Demo) Command(version string) *cobra.Command {
	r := demoRun{Demo: d}
	cmd := &cobra.Command{
		Use: "demo", Short: d.Short, Long: d.Long, Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(r.speed >= 1 && r.speed <= 3600) {
				return cli.Misuse(cmd, fmt.Errorf("--speed must be a number from 1 to 3600"))
			}
			r.out = cmd.ErrOrStderr()
			return r.run(cmd.Context(), version)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.listen, "listen", "127.0.0.1:8080", "address of the pages; loopback only")
	flags.Float64Var(&r.speed, "speed", 1, "how many times faster than real time the node's clock goes")
	flags.BoolVar(&r.quiet, "quiet", false, "do not log to standard error")
	return cmd
}

func (r *demoRun) run(ctx context.Context, version string) error {
	if err := LoopbackOnly(r.listen); err != nil {
		return fault.Wrap(nil, fault.Invalid, "bad_listen", "--listen %s", err)
	}
	log, err := NewLogger(LogConfig{Format: "auto", Level: "warn"}, r.out)
	if err != nil {
		return err
	}
	if r.quiet {
		log, r.out = slog.New(slog.DiscardHandler), io.Discard
	}
	ln, err := Listen(ctx, r.listen, "--listen")
	if err != nil {
		return err
	}
	defer ln.Close() //nolint:errcheck // the server has closed it in the good case
	dir, err := os.MkdirTemp("", "touchline-demo-")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "no_data_dir", "cannot create a directory for the demo: %s", ReasonOf(err))
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the way of nothing
	login, err := OpenDemoLogin(ctx, r.Users, log)
	if err != nil {
		return err
	}
	defer login.Close()
	n, err := Open(ctx, dir, Parts{
		Clock: clock.NewScaled(clock.Real().Now(), r.speed), Speed: fmt.Sprintf("%gx", r.speed), Version: version, Log: log, Gallery: true,
		Apps: []*app.App{r.filled()}, Auth: login.Identity, Session: DefaultSession(),
	})
	if err != nil {
		return err
	}
	home := "http://" + ln.Addr().String()
	fmt.Fprintf(r.out, "%s: open %s and sign in as any of %d users (Ctrl-C ends)\n", r.App.Title, home, len(r.Users)) //nolint:errcheck // of the terminal
	return n.Run(ctx, ln)
}

// filled is the application with the demo's data.
func (r *demoRun) filled() *app.App {
	a := *r.App
	if r.Fill != nil {
		a.Open = func(ctx context.Context, h *app.Host) (*app.Instance, error) {
			instance, err := r.App.Open(ctx, h)
			if err != nil {
				return nil, err
			}
			return instance, r.Fill(ctx, h)
		}
	}
	return &a
}
