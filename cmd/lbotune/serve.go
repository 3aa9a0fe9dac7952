package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/lbotune/lbotune/internal/report"
	"github.com/lbotune/lbotune/study"
)

func newServe(g *global) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "serve STUDY",
		Short: "Show a study in the browser while it runs",
		Long: `Serve shows the page of report, and keeps it up to date while the study runs. It only
reads: nothing can be changed through it. Beside the page it answers /api/v1/study, with
what report --format json prints, and /metrics, for Prometheus.

Who can reach the address can see the study. Only this machine can unless --listen says
so; there is no password.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			host, _, err := net.SplitHostPort(listen)
			if err != nil {
				return usagef("--listen: found %q; want HOST:PORT", listen)
			}
			ln, err := net.Listen("tcp", listen)
			if err != nil {
				return &hinted{usagef("--listen: %w", err), "--listen 127.0.0.1:0 takes any port that is free"}
			}
			hosts, url := report.Hosts(ln.Addr(), host)
			fmt.Fprintf(g.err, "%s shows %s; Ctrl-C ends it\n", url, oneLine(st.Config.Name))
			v := report.NewServer(l.Journal(), func() (report.Source, error) {
				st, _, err := study.Load(string(l))
				if err != nil {
					return report.Source{}, err
				}
				return sourceOf(st, l)
			})
			return serve(cmd.Context(), ln, v, hosts)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8765", "listen at `HOST:PORT`")
	return cmd
}

// serve answers until the context ends.
func serve(ctx context.Context, ln net.Listener, v *report.Server, hosts []string) error {
	server := &http.Server{Handler: v.Handler(hosts...), ReadHeaderTimeout: 10 * time.Second}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return v.Run(ctx) })
	group.Go(func() error {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	return group.Wait()
}
