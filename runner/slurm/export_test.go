package slurm

import "context"

// Left reports whether the attempt in dir was left running.
func (l *Launcher) Left(dir string) bool { return program{l}.Left(dir) }

// Cancel ends an attempt that was left.
func (l *Launcher) Cancel(ctx context.Context, dir string) (bool, error) {
	return program{l}.Cancel(ctx, dir)
}
