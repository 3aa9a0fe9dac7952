package spec

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/runner/slurm"
	"github.com/lbotune/lbotune/study"
)

// kindLocal is the kind of launcher that runs trials as processes of this machine.
const kindLocal = "local"

// Launchers are the other kinds, by the names that specs have for them.
var Launchers = map[string]kinds.Kind{
	"slurm": slurm.Kind,
}

func (t *table) launcher(r study.Run) *study.Launcher {
	s := t.sub("launcher")
	others := slices.Sorted(maps.Keys(Launchers))
	kind := s.OneOf("kind", kindLocal, others...)
	var out *study.Launcher
	if chosen, ok := Launchers[kind]; ok {
		run := kinds.Run{Timeout: time.Duration(r.Timeout), Grace: time.Duration(r.Grace), SlotGPUs: ownsDevices(r.Slots), AutoGPUs: r.GPUs != ""}
		out = &study.Launcher{Kind: kind, Settings: chosen.Settings(s, run)}
	}
	for _, other := range others {
		s.foreign(other, kind)
	}
	s.done()
	if s.data != nil && !s.has("kind") {
		s.Missing("kind", `add kind = "`+others[0]+`"`, "needs a kind")
	}
	return out
}

// foreign complains of keys that another kind of launcher would read.
func (t *table) foreign(other, kind string) {
	empty := &table{doc: &document{known: map[string][]string{}}, path: t.path}
	Launchers[other].Settings(empty, kinds.Run{})
	for _, k := range empty.known() {
		t.when(!slices.Contains(t.known(), k) && t.has(k) && t.has("kind"), k, "", "is for kind %s; the kind here is %s", other, kind)
	}
	t.knows(empty.known()...)
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
