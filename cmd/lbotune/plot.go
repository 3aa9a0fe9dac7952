package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
)

func newPlot(g *global) *cobra.Command {
	var width int
	var plain bool
	cmd := &cobra.Command{
		Use:   "plot STUDY PICTURE",
		Short: "Draw a picture of a study in the terminal",
		Long: `Plot draws in characters what report draws: ` + strings.Join(report.Texts(), ", ") + `.
A green @ or full circle is the best trial, x a failed one, a point one of the initial design. Without a
UTF-8 locale, or with --ascii, it takes ASCII alone.`,
		Example: "  lbotune plot spec.study history",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := report.Cells{Columns: width, Plain: plain || !unicodeLocale()}
			if columns, _, ok := g.terminal(); ok {
				c.Colours = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
				if width == 0 && columns > 0 {
					c.Columns = min(max(columns, 60), 200)
				}
			}
			if c.Columns = cmp.Or(c.Columns, 80); c.Columns < 60 || c.Columns > 200 {
				return usagef("--width: found %d; want 60 to 200", width)
			}
			s, err := look(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			text, err := s.Text(args[1], c)
			if err != nil {
				return usage(err)
			}
			_, err = fmt.Fprint(g.out, text)
			return err
		},
	}
	cmd.Flags().IntVar(&width, "width", 0, "draw in `N` columns, 60 to 200, instead of the terminal's or 80")
	cmd.Flags().BoolVar(&plain, "ascii", false, "take no characters but those of ASCII")
	return cmd
}
