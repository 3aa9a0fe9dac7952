package spec

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/slurm"
	"github.com/lbotune/lbotune/study"
)

// kindLocal is the kind of launcher that runs trials as processes of this machine.
const kindLocal = "local"

// Launchers are the other kinds, by the names that specs have for them.
var Launchers = map[string]runner.Kind{
	"slurm": slurm.Kind,
}

// launcher reads [launcher].
func (t *table) launcher(r study.Run) *study.Launcher {
	s := t.sub("launcher")
	kinds := slices.Sorted(maps.Keys(Launchers))
	kind := s.oneOf("kind", kindLocal, append([]string{kindLocal}, kinds...)...)
	var out *study.Launcher
	if chosen, ok := Launchers[kind]; ok {
		run := runner.Run{Timeout: time.Duration(r.Timeout), Grace: time.Duration(r.Grace), SlotGPUs: ownsDevices(r.Slots), AutoGPUs: r.GPUs != ""}
		out = &study.Launcher{Kind: kind, Settings: chosen.Settings(launcherKeys{s}, run)}
	}
	for _, other := range kinds {
		s.foreign(other, kind)
	}
	s.done()
	if s.data != nil && !s.has("kind") {
		s.missing("kind", `add kind = "`+kinds[0]+`"`, "needs a kind")
	}
	return out
}

// foreign complains of keys that another kind of launcher would read.
func (t *table) foreign(other, kind string) {
	empty := &table{doc: &document{}, path: t.path, element: -1}
	Launchers[other].Settings(launcherKeys{empty}, runner.Run{})
	for _, k := range empty.known {
		if slices.Contains(t.known, k) {
			continue
		}
		t.known = append(t.known, k)
		if t.has(k) && t.has("kind") {
			t.at(k, "", "is for kind %s; the kind here is %s", other, kind)
		}
	}
}

// launcherKeys is [launcher] as a launcher reads it.
type launcherKeys struct{ t *table }

func (k launcherKeys) Text(key string) string    { return k.t.str(key, "") }
func (k launcherKeys) Texts(key string) []string { return k.t.strings(key) }
func (k launcherKeys) Int(key string, without, least int) int {
	return int(k.t.integer(key, int64(without), int64(least)))
}
func (k launcherKeys) Duration(key string, without time.Duration) time.Duration {
	return time.Duration(k.t.duration(key, without))
}
func (k launcherKeys) OneOf(key string, first string, more ...string) string {
	return k.t.oneOf(key, first, append([]string{first}, more...)...)
}
func (k launcherKeys) Wrong(key, hint, format string, args ...any) {
	k.t.at(key, hint, format, args...)
}
func (k launcherKeys) Missing(key, hint, format string, args ...any) {
	k.t.missing(key, hint, format, args...)
}

// ownsDevices reports whether slots say which GPUs a trial has.
func ownsDevices(slots []study.Slot) bool {
	return slices.ContainsFunc(slots, func(slot study.Slot) bool {
		return slices.ContainsFunc(slot.Env, func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return strings.HasSuffix(name, "_VISIBLE_DEVICES")
		})
	})
}
