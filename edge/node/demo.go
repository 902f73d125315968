package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// demoRun is one run of a demo, or of several side by side.
type demoRun struct {
	demos  []*app.Demo
	listen string
	speed  float64
	quiet  bool
	out    io.Writer
	log    *slog.Logger
	begin  [][]page.Tile // per demo: where to start
	once   bool
	told   string // summary at the end
}

// DemoCommand returns the command that runs demos on one node. If there are several, the first user is signed in.
func DemoCommand(use, version string, demos ...*app.Demo) *cobra.Command {
	r := demoRun{demos: demos, begin: make([][]page.Tile, len(demos))}
	cmd := &cobra.Command{
		Use: use, Short: demos[0].Short, Long: demos[0].Long, Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(r.speed >= 1 && r.speed <= 3600) {
				return cli.Misuse(cmd, fmt.Errorf("--speed must be a number from 1 to 3600"))
			}
			r.out = cmd.ErrOrStderr()
			if err := r.run(cmd.Context(), version); err != nil {
				return err
			}
			_, err := io.WriteString(cmd.OutOrStdout(), r.told)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.listen, "listen", "127.0.0.1:8080", "address of the pages; loopback only")
	flags.Float64Var(&r.speed, "speed", 1, "how many times faster than real time the node's clock goes")
	if len(demos) == 1 && demos[0].Told != nil {
		flags.BoolVar(&r.once, "once", false, "exit when the demo ends, and print a summary")
	}
	flags.BoolVar(&r.quiet, "quiet", false, "do not log to standard error")
	return cmd
}

func (r *demoRun) run(ctx context.Context, version string) (err error) {
	if err := LoopbackOnly(r.listen); err != nil {
		return fault.Wrap(nil, fault.Invalid, "bad_listen", "--listen %s", err)
	}
	var level *slog.LevelVar // errors only until the addresses are printed, then warnings too
	if r.log, level, err = NewLeveledLogger(LogConfig{Format: "text", Level: "error"}, r.out); err != nil {
		return err
	}
	if r.quiet {
		r.log, r.out = slog.New(slog.DiscardHandler), io.Discard
	}
	ln, err := Listen(ctx, r.listen, "--listen")
	if err != nil {
		return err
	}
	defer ln.Close() //nolint:errcheck // normally the server has closed it
	dir, err := os.MkdirTemp("", "touchline-demo-")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "no_data_dir", "cannot create a directory for the demo: %s", ReasonOf(err))
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a leftover directory is harmless
	users := r.users()
	login, err := OpenDemoLogin(ctx, users, r.log)
	if err != nil {
		return err
	}
	defer login.Close()
	p := Parts{
		Clock: clock.NewScaled(clock.Real().Wall(), r.speed), Speed: fmt.Sprintf("%gx", r.speed), Version: version, Log: r.log, Gallery: true,
		Auth: login.Identity, Session: DefaultSession(),
	}
	if len(r.demos) > 1 {
		p.Demo = login.SignIn
	}
	ctx, over := context.WithCancel(ctx)
	defer over()
	for i := range r.demos {
		p.Apps = append(p.Apps, r.fillDemo(i, over))
	}
	n, err := Open(ctx, dir, p)
	if err != nil {
		return err
	}
	r.printAddresses("http://"+ln.Addr().String(), users)
	level.Set(slog.LevelWarn)
	return n.Run(ctx, ln)
}

// users returns the users of all demos, each once.
func (r *demoRun) users() (all []devlogin.User) {
	for _, d := range r.demos {
		for _, u := range d.Users {
			if !slices.ContainsFunc(all, func(o devlogin.User) bool { return o.Subject == u.Subject }) {
				all = append(all, u)
			}
		}
	}
	return all
}

// printAddresses prints the addresses of the demo.
func (r *demoRun) printAddresses(home string, users []devlogin.User) {
	title, who := r.demos[0].App.Title, "and sign in as "+users[0].Name
	switch {
	case len(r.demos) > 1:
		title, who = fmt.Sprintf("%d applications", len(r.demos)), fmt.Sprintf("as %s, or sign in as another of %d users", users[0].Name, len(users))
	case len(users) > 1:
		who = fmt.Sprintf("and sign in as any of %d users", len(users))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: open %s %s (Ctrl-C ends)\n", title, home, who)
	for i, d := range r.demos {
		if len(r.demos) > 1 {
			fmt.Fprintf(&text, "  %-22s %s\n", d.App.Title, home+d.App.Settings.Path()+"/-/")
		}
		for _, t := range r.begin[i] {
			fmt.Fprintf(&text, "    %-20s %s\n", t.Title, home+t.Href)
		}
	}
	_, _ = io.WriteString(r.out, text.String()) // a closed terminal is no reason to stop
}

// fillDemo returns the application with the demo's data and live updates. An error is logged, and ends the demo only if it is the only
// one.
func (r *demoRun) fillDemo(i int, over func()) *app.App {
	d := r.demos[i]
	a := *d.App
	a.Open = func(ctx context.Context, h *app.Host) (*app.Instance, error) {
		in, err := d.App.Open(ctx, h)
		if err == nil && d.Fill != nil {
			r.begin[i], err = d.Fill(ctx, h)
		}
		if in == nil {
			in = &app.Instance{}
		}
		in.API.Live = r.withBeginning(i, in.API.Live)
		if d.Live != nil && err == nil {
			in.Loops = append(in.Loops, func(ctx context.Context) error { return r.handleFailure(ctx, d, r.live(ctx, d, h, over)) })
		}
		return in, r.handleFailure(ctx, d, err)
	}
	return &a
}

// live runs a demo's live updates. With --once it then takes the summary and ends the node.
func (r *demoRun) live(ctx context.Context, d *app.Demo, h *app.Host, over func()) error {
	err := d.Live(ctx, h)
	if err == nil && r.once && ctx.Err() == nil {
		r.told, err = d.Told(ctx, h)
		over()
	}
	return err
}

// withBeginning adds the demo's tiles to the list of what is on. While there are none, it announces a demo that is loading.
func (r *demoRun) withBeginning(i int, live func(context.Context) ([]page.Tile, error)) func(context.Context) ([]page.Tile, error) {
	return func(ctx context.Context) (on []page.Tile, err error) {
		if live != nil {
			on, err = live(ctx)
		}
		on = append(on, r.begin[i]...)
		if d := r.demos[i]; len(on) == 0 && d.Live != nil {
			on = []page.Tile{{Href: d.App.Settings.Path() + "/-/", Title: "About to begin", Line: "Loading; it will appear here shortly"}}
		}
		return on, err
	}
}

// handleFailure returns the error of a demo that runs alone. If there are others it only logs it.
func (r *demoRun) handleFailure(ctx context.Context, d *app.Demo, err error) error {
	if err == nil || len(r.demos) == 1 || ctx.Err() != nil {
		return err
	}
	r.log.Error("a demo failed; the others continue", "app", d.App.Title, "err", err)
	return nil
}
