package cricketapp

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/cli"
)

const apnsSandboxLong = `Run a local push service that answers as Apple's does, with simulated phones behind it, until interrupted. Use it
to develop an app or its server without an Apple account, and for tests. It rejects what Apple rejects, in the same order
and with the same reasons, and its phones ignore what real ones would.

  touchline apns-sandbox --dir /tmp/apns --phones 2

It writes two files into --dir and keeps them there for the next start: ca.pem (the authority of its certificate) and
AuthKey.p8 (the key that signs provider tokens). It prints addresses, ids and the phones' tokens; -o json prints them on
one line for a program. Any APNs client can use it, with the printed host and port, ca.pem as a trusted authority,
AuthKey.p8, the key id and the team id. With curl, and a provider token made from the key ($JWT):

  curl --http2 --cacert /tmp/apns/ca.pem -H "authorization: bearer $JWT" -H 'apns-push-type: liveactivity' \
    -H 'apns-topic: com.example.touchline.push-type.liveactivity' -H 'apns-priority: 5' \
    -d '{"aps":{"timestamp":1767225600,"event":"update","content-state":{}}}' https://127.0.0.1:2197/3/device/$TOKEN

It accepts any well-formed token (an unknown one becomes a phone) and any content state; --strict accepts only tokens of
its phones, and only content that Touchline's app can decode (docs/live-activities.md).

The other address is plain HTTP, for people and tests:

  GET  /           a page with phones and pushes       GET    /log.txt   a line per push
  GET  /log        pushes as JSON, ?after=SEQ          GET    /phones    phones with their tokens
  GET  /counts     answers by status and reason        GET    /channels  broadcast channels
  POST /phones     {"name","osVersion"}: one more      POST   /phones/ID/rotate?match=  or /dismiss?match=
  POST /scripts    {"token","n","status","reason","body","retryAfter","delayMs","hang","reset","lost","goAway","streams"}:
                   the answer to the n-th push to a token (0: to every one; no token: of all pushes)
  DELETE /scripts  the usual answers again             POST   /burst     {"n","status","reason"}: the next n pushes
  POST /goaway     end the connections                 POST   /streams   {"streams"}: how many streams may be open
  POST /tokens/TOKEN/unregister                        (410 from then on)

A script for "manage" answers the requests about broadcast channels. Exit codes: 0 ended by a signal, 1 failure (port in
use), 2 wrong usage.`

func newAPNsSandbox() *cobra.Command {
	var c SandboxConfig
	var output string
	log := node.LogConfig{Format: "auto", Level: "warn"}
	cmd := &cobra.Command{
		Use:   "apns-sandbox --dir DIR",
		Short: "Run a local push service with simulated phones instead of Apple's",
		Long:  apnsSandboxLong,
		Args:  cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if c.Dir == "" {
				return cli.Misuse(cmd, errors.New("--dir must name a directory for the certificate and the key"))
			}
			if c.Log, err = node.NewLogger(log, cmd.ErrOrStderr()); err != nil {
				return err
			}
			c.Ready = func(r SandboxReady) {
				_ = cli.Print(cmd, output, r, r.String()) // a reader that has gone is no reason to stop
			}
			return Sandbox(cmd.Context(), c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Dir, "dir", "", "directory of ca.pem and AuthKey.p8, kept for the next start; created if missing")
	flags.StringVar(&c.Listen, "listen", "127.0.0.1:2197", "address of the push service; port 0 picks a free port")
	flags.StringVar(&c.Control, "control", "127.0.0.1:2198", "address of page, log and controls; port 0 picks a free port, empty: none")
	flags.BoolVar(&c.Public, "public", false, "allow addresses reachable from other machines, which then see every token and push")
	flags.IntVar(&c.Phones, "phones", 1, "simulated phones at the start")
	flags.StringVar(&c.System, "ios", "18.0", "their iOS version; from 18 on they support broadcast channels")
	flags.BoolVar(&c.Strict, "strict", false, "accept only tokens of known phones, and only content that Touchline's app can decode")
	flags.DurationVar(&c.Delay, "delay", 0, "delay before every answer, such as 50ms")
	flags.StringVar(&c.BundleID, "bundle-id", "com.example.touchline", "bundle id of the app")
	flags.StringVar(&c.TeamID, "team-id", "TEAM000001", "the team that provider tokens must name")
	flags.StringVar(&c.KeyID, "key-id", "KEY0000001", "the key that provider tokens must name")
	cli.OutputFlag(cmd, &output)
	return cmd
}
