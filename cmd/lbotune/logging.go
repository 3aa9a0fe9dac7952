package main

import (
	"context"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// logHandler writes what the library logs as hclog does.
type logHandler struct{ to hclog.Logger }

func hclogLevel(level slog.Level) hclog.Level {
	switch {
	case level >= slog.LevelError:
		return hclog.Error
	case level >= slog.LevelWarn:
		return hclog.Warn
	case level >= slog.LevelInfo:
		return hclog.Info
	}
	return hclog.Debug
}

// Enabled implements slog.Handler.
func (h logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return hclogLevel(level) >= h.to.GetLevel()
}

// Handle implements slog.Handler.
func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	var pairs []any
	r.Attrs(func(a slog.Attr) bool { pairs = append(pairs, a.Key, a.Value.Any()); return true })
	h.to.Log(hclogLevel(r.Level), r.Message, pairs...)
	return nil
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var pairs []any
	for _, a := range attrs {
		pairs = append(pairs, a.Key, a.Value.Any())
	}
	return logHandler{h.to.With(pairs...)}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.to.Named(name)} }
