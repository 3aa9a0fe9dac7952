package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// hooks runs the commands of a study's [hooks], and after them packs the small files of attempts and removes the directories
// that the study need not keep, one thing after the other: slowly, if they are slow, and
// without the study's waiting for them before its end; it only lists what is to go. Whatever
// fails is logged, and harms nothing.
type hooks struct {
	feed  *feed[aftermath]
	study *Study
	life  context.Context // of the hooks that follow
	kill  context.CancelFunc
	keep  keeper
	mute  bool // it was said that what hooks print is lost
}

// aftermath is what is done once a record is on disk.
type aftermath struct {
	life   context.Context // of the hooks
	config study.Hooks
	dir    string // in which hooks run
	update study.Update
	env    []string // of hooks
	drop   []*leftover
	id     layout.AttemptID
	given  map[string]string // small files of the attempt that may go, nil if it keeps all
}

func newHooks(s *Study) *hooks {
	h := &hooks{study: s, keep: keeper{study: s, cleared: map[int]*leftover{}}}
	h.live()
	h.feed = newFeed(h.do, func(p any) { s.opts.Log.Error("what follows a record was not done", "error", panicked("a hook", p)) })
	return h
}

// live lets the hooks that follow be ended by no Run.
func (h *hooks) live() { h.life, h.kill = context.WithCancel(context.Background()) }

// begin has the hooks end with the context of a Run, and with its stop.
func (h *hooks) begin(ctx context.Context) {
	before := h.kill
	life, kill := context.WithCancel(ctx)
	h.life, h.kill = life, func() { before(); kill() }
}

// follow queues what follows from a record that is part of the study.
func (h *hooks) follow(u study.Update) {
	st := h.study.state
	a := aftermath{life: h.life, dir: st.Config.Dir, update: u}
	if st.Config.Hooks != nil {
		a.config = *st.Config.Hooks
	}
	switch e := u.Record.Event.(type) {
	case study.Finished:
		a.drop = h.keep.toDrop(e.Trial)
		h.mayPack(&a, e.Attempt, e.Slot, e.Failure == nil && e.Leftovers == "")
	case study.Ended:
		h.mayPack(&a, e.Attempt, e.Slot, e.Failure == nil && e.Leftovers == "")
	case study.Closed:
		if b := st.Best(); b != nil {
			end := *b
			end.Metrics = st.Means(b) // its own values have made it one of the best, perhaps by luck
			end.Value, _ = end.Metrics.Get(st.Config.Objective().Name)
			a.update.Trial, a.update.Best = end, end
		}
		a.drop = h.keep.toDrop(0)
	case study.Rerun:
		h.keep.spare(e.Trials)
		h.keep.ranked = false
		return
	case study.Excluded, study.Included, study.ConfigChanged, study.Confirmed, study.Session:
		h.keep.ranked = false
		return
	default:
		return
	}
	if a.config == (study.Hooks{}) && len(a.drop) == 0 && a.given == nil {
		return
	}
	if a.config != (study.Hooks{}) {
		a.env = hookEnv(st, h.study.layout, a.update)
	}
	h.feed.put(a)
}

// mayPack says which small files of an attempt need not stay if it went well: those that the spec does not mention.
func (h *hooks) mayPack(a *aftermath, attempt, slot int, well bool) {
	t, c := &a.update.Trial, &h.study.state.Config
	if !well || t.Hand || c.Run.Keep > 0 {
		return
	}
	b := study.TrialBindings(h.study.layout, c, t, attempt, slot)
	a.id, a.given = layout.AttemptID{Trial: t.Number, Attempt: attempt}, map[string]string{runner.StderrName: ""}
	if !b.Mentions("{params_file") && !b.Mentions(layout.ParamsName) {
		a.given[layout.ParamsName] = string(b.ParamsJSON()) + "\n"
	}
	if c.Run.SlotCount() > 1 {
		a.given[layout.SlotName] = strconv.Itoa(slot) + "\n"
	}
	maps.DeleteFunc(a.given, func(name, _ string) bool { return b.Mentions("/" + name) })
}

// do runs the hooks, then packs small files and removes directories.
func (h *hooks) do(a aftermath) {
	u := a.update
	switch u.Record.Event.(type) {
	case study.Finished:
		h.run("trial", a.config.Trial, a)
		if u.Best.Number == u.Trial.Number {
			h.run("best", a.config.Best, a)
		}
	case study.Closed:
		if a.config.End != "" {
			_ = h.study.layout.Unpacker()(layout.AttemptID{Trial: u.Trial.Number, Attempt: u.Trial.Attempt}) // if it was packed
		}
		h.run("end", a.config.End, a)
	}
	if a.given != nil {
		if err := h.study.layout.Pack(a.id, a.given); err != nil {
			h.study.opts.Log.Debug("small files stay", "trial", a.id.Trial, "attempt", a.id.Attempt, "error", err)
		}
	}
	for _, d := range a.drop {
		h.keep.clear(d)
	}
}

// run runs one hook, if there is one.
func (h *hooks) run(event, command string, a aftermath) {
	if command == "" || a.life.Err() != nil {
		return
	}
	path := h.study.layout.HookLog()
	log, err := h.study.layout.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND) // and no link that a trial has put there
	if err != nil && !h.mute {
		h.mute = true
		h.study.opts.Log.Warn("what hooks print is lost", "error", err)
	}
	if log != nil {
		defer log.Close()
	}
	if err := h.call(event, command, log, a); err != nil {
		h.study.opts.Log.Warn("a hook failed", "hook", event, "trial", a.update.Trial.Number, "error", err, "output", path)
	}
}

// call runs a command. It prints to log, if there is one.
func (h *hooks) call(event, command string, log *os.File, a aftermath) error {
	ctx, done := context.WithTimeout(a.life, time.Duration(a.config.Timeout))
	defer done()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Dir = a.dir
	if log != nil {
		cmd.Stdout, cmd.Stderr = log, log
	}
	cmd.Env = slices.Concat(slices.DeleteFunc(os.Environ(), toldRE().MatchString), a.env, []string{"LBOTUNE_EVENT=" + event})
	// A group of its own, which Ctrl-C does not reach; no session of its own, by which
	// the runner knows what trials have left behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case a.life.Err() != nil:
		err = errors.New("killed when the study was stopped")
	case ctx.Err() != nil:
		err = fmt.Errorf("killed after %v", a.config.Timeout)
	}
	const looks = 40 // in a second: they are counted, as this process may stand still meanwhile
	for n := 0; n < 2*looks && cmd.Process != nil && remain(cmd.Process.Pid); n++ {
		if n >= looks && cmd.Cancel() == nil && err == nil {
			err = errors.New("it left processes in the background, which were ended: let it wait for them")
		}
		time.Sleep(requestLook / 10)
	}
	return err
}

// remain reports whether processes of a hook's group are left. Those that have ended are reaped, as
// this process may be the new parent of all orphans below it.
func remain(group int) bool {
	lives := runner.GroupLives(group) // before reaping: the next look sees what ends after this one
	for n, err := 1, error(nil); n > 0 || err == syscall.EINTR; {
		n, err = syscall.Wait4(-group, nil, syscall.WNOHANG, nil)
	}
	return lives
}

// end waits until all is done, and serves meanwhile what the hooks ask of the study. StopNow
// kills the hooks that are left. It reports whether the study was asked to stop.
func (h *hooks) end(stop <-chan Stop) (stopped bool) {
	look := time.NewTicker(requestLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if err := h.study.serve(); err != nil {
				h.study.opts.Log.Error("no requests are served any more", "error", err)
				look.Stop()
			}
		case step, open := <-stop:
			if stopped = true; !open {
				stop = nil
			}
			if step == StopNow {
				h.kill()
			}
		case <-h.feed.shown: // the last one's, also of what has been served meanwhile
			select {
			case <-stop: // which has come with it
				stopped = true
			default:
			}
			h.kill()
			h.live()
			return stopped
		}
	}
}

// toldRE matches what hookEnv may say. What lbotune was told itself, as a hook of another study or in a
// trial of one, is not true of this study.
var toldRE = pattern.Lazy(`^LBOTUNE_(STUDY|NAME|FINISHED|BEST_TRIAL|BEST_VALUE|WHY|TRIAL|STATUS|SECONDS|TRIAL_DIR|REASON|VALUE|METRIC|METRIC_\w*|PARAM_\w*)=`)

var noNameRE = pattern.Lazy(`[^A-Za-z0-9_]`)

// hookEnv is what hooks are told of a trial and the study in their environment.
func hookEnv(st *study.State, l layout.Study, u study.Update) []string {
	var env []string
	add := func(name, value string) {
		if value != "" && !strings.ContainsRune(value, 0) {
			env = append(env, "LBOTUNE_"+name+"="+value)
		}
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	add("STUDY", string(l))
	add("NAME", st.Config.Name)
	add("METRIC", st.Config.Objective().Name)
	add("FINISHED", strconv.Itoa(len(st.Order)))
	if u.Best.Number > 0 {
		add("BEST_TRIAL", strconv.Itoa(u.Best.Number))
		add("BEST_VALUE", number(u.Best.Value))
	}
	if c := st.Closed; c != nil {
		add("WHY", c.Detail)
	}
	t := u.Trial
	if t.Number == 0 {
		return env
	}
	add("TRIAL", strconv.Itoa(t.Number))
	add("STATUS", string(t.Status))
	if !t.Hand {
		add("SECONDS", number(journal.Seconds(t.Took)))
		add("TRIAL_DIR", l.Attempt(layout.AttemptID{Trial: t.Number, Attempt: t.Attempt}))
	}
	if t.Failure != nil {
		add("REASON", t.Failure.Text)
	}
	if v, ok := t.Metrics.Get(st.Config.Objective().Name); ok {
		add("VALUE", number(v))
	}
	for _, m := range t.Metrics {
		add("METRIC_"+strings.ToUpper(noNameRE().ReplaceAllString(m.Name, "_")), number(m.Value))
	}
	for _, v := range t.Values() {
		add("PARAM_"+strings.ToUpper(v.Name), v.Value.Text())
	}
	return env
}
