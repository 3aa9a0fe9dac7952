package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

var errDiffers = errors.New("the replay differs from the journal")

func newReplay(g *global) *cobra.Command {
	kernel := ""
	cmd := &cobra.Command{
		Use:   "replay STUDY",
		Short: "Compute every proposal again and compare it with the journal",
		Long: `Replay tells a new optimizer what the study's optimizer knew at each proposal, asks
again, and compares the answers. On the kind of processor that ran the study they are all the
same, and where this one can compute as that does, it does.`,
		RunE: inDir(func(ctx context.Context, dir string, _ []string) error { return replay(ctx, g, dir, kernel) }),
	}
	cmd.Flags().StringVar(&kernel, "kernel", "", "replay only what was proposed on this kind of processor")
	cmd.Flags().Lookup("kernel").Hidden = true // replay itself starts these
	return cmd
}

// replay leaves sessions of another kind of processor to a process that computes as that one does,
// where this one can. Of the others it shows whether rounding makes a difference. A kernel is the only
// kind that is wanted.
func replay(ctx context.Context, g *global, dir, kernel string) error {
	var others []string
	rep, err := replaySessions(ctx, g, dir, func(of string) bool {
		if kernel == "" && without(of) != "" && !slices.Contains(others, of) {
			others = append(others, of)
		}
		return of == kernel || kernel == "" && without(of) == ""
	})
	for _, other := range others {
		if err == nil {
			err = addReplay(ctx, g, &rep, dir, other)
		}
	}
	if err != nil {
		return hintStudy(dir, err)
	}
	if kernel != "" {
		return printJSON(g.out, rep)
	}
	sort.SliceStable(rep.Differences, func(i, j int) bool { return rep.Differences[i].Trial < rep.Differences[j].Trial })
	var s strings.Builder
	for _, d := range rep.Differences {
		fmt.Fprintf(&s, "trial %d: the journal has %s, the replay %s\n", d.Trial, oneLine(d.Journal.String()), oneLine(d.Replay.String()))
	}
	fmt.Fprintf(&s, "%s asked again, %d different, %d given or continued\n", count(rep.Asked, "proposal"), len(rep.Differences), rep.Given)
	if err := g.show(rep, s.String()); err != nil {
		return err
	}
	switch {
	case len(rep.Elsewhere) > 0:
		return hinted(errDiffers, fmt.Sprintf("proposals were made on %s, and this processor is %s: it rounds otherwise, and what follows may differ; replay there, or in QEMU, to be sure",
			oneLine(strings.Join(rep.Elsewhere, " and ")), optimizer.Kernel()))
	case len(rep.Differences) > 0:
		return hinted(errDiffers, "another version of lbotune proposes otherwise: each session in the journal names its program, and this is "+programVersion())
	}
	return nil
}

// replaySessions asks again in the sessions whose kind of processor is wanted.
func replaySessions(ctx context.Context, g *global, dir string, wanted func(kernel string) bool) (session.Replayed, error) {
	m := g.meter("asking again")
	defer m.end()
	kernel := ""
	follow := func(_ *study.State, r study.Record) error {
		if s, is := r.Event.(study.Session); is {
			kernel = s.Kernel
		}
		return nil
	}
	return session.Replay(ctx, dir, func(space *spaces.Space, seed uint64, s optimizer.Settings, earlier ...optimizer.Earlier) (optimizer.Optimizer, error) {
		if !wanted(kernel) {
			return nil, nil
		}
		return optimizer.New(space, seed, s, earlier...)
	}, m.read, follow)
}

// without is the GODEBUG that makes a new process compute as a processor of that kind, if this one can:
// package math obeys it, as do the optimizer's own loops. What the compiler itself has fused stays so.
func without(kernel string) string {
	switch here := optimizer.Kernel(); {
	case kernel == "amd64" && (here == "amd64+fma" || here == "amd64+avx2+fma"):
		return "cpu.fma=off"
	case kernel == "amd64+fma" && here == "amd64+avx2+fma":
		return "cpu.avx2=off"
	}
	return ""
}

// addReplay adds to rep what a process finds that computes as another kind of processor.
func addReplay(ctx context.Context, g *global, rep *session.Replayed, dir, kernel string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find lbotune's own program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "journal", "replay", "--kernel", kernel, "--", dir)
	cmd.Env = append(os.Environ(), "GODEBUG="+os.Getenv("GODEBUG")+","+without(kernel))
	cmd.Stderr = g.err
	var more session.Replayed
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &more)
	}
	if err != nil {
		return fmt.Errorf("replay as on %s: %w", kernel, cmp.Or(ctx.Err(), err))
	}
	rep.Asked += more.Asked
	rep.Differences = append(rep.Differences, more.Differences...)
	rep.Elsewhere = append(rep.Elsewhere, more.Elsewhere...)
	return nil
}
