package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// peer is another optimizer: a program that is asked and told in JSON, one line each. It
// reads first what it is about, then questions, each of which it answers with the values
// of a configuration, and results, which it does not answer:
//
//	{"params":[{"name":"x1","kind":"float","min":0,"max":1}],"seed":0,"objectives":1,"constraints":0}
//	{"ask":1}
//	{"x1":0.5}
//	{"tell":1,"values":[0.25],"constraints":[]}
//
// Values are to be minimized, and null if the trial failed; a constraint is broken above 0. Where
// the first line has a "clock", answers have "_seconds", too: what the processor has spent since then.
type peer struct {
	objective problems.Objective
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *json.Decoder
	spent     float64 // seconds, as it last said
}

type peerTask struct {
	Params      []spaces.Param `json:"params"`
	Seed        int            `json:"seed"`
	Objectives  int            `json:"objectives"`
	Constraints int            `json:"constraints"`
	Clock       float64        `json:"clock,omitempty"`
}

type peerResult struct {
	Tell        int       `json:"tell"`
	Values      []float64 `json:"values"`
	Constraints []float64 `json:"constraints"`
}

// startPeer starts the job's command in a shell.
func startPeer(ctx context.Context, j job) (*peer, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+j.command)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	p := &peer{objective: j.objective, cmd: cmd, in: in, out: json.NewDecoder(bufio.NewReader(out))}
	task := peerTask{Params: j.objective.Space.Params(), Seed: j.seed, Objectives: max(len(j.objective.Reference), 1), Clock: j.clock}
	if j.objective.Over != nil {
		lowest := j.objective.Space.Decode(make(spaces.Point, j.objective.Space.Dim()))
		task.Constraints = len(j.objective.Over(lowest))
	}
	return p, p.send(task)
}

// end lets the program end.
func (p *peer) end() {
	_ = p.in.Close() // it may have ended
	_ = p.cmd.Wait() // all results are here
}

func (p *peer) send(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("speak to the peer: %w", err)
	}
	return nil
}

// Ask implements optimizer.Optimizer.
func (p *peer) Ask(_ context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	if err := p.send(map[string]int{"ask": q.Trial}); err != nil {
		return optimizer.Proposal{}, err
	}
	var answer map[string]json.RawMessage
	if err := p.out.Decode(&answer); err != nil {
		return optimizer.Proposal{}, fmt.Errorf("read the peer's answer: %w", err)
	}
	_ = json.Unmarshal(answer["_seconds"], &p.spent) // it has none without a clock
	var values spaces.Values
	for i, param := range p.objective.Space.Params() {
		text, there := answer[param.Name]
		if !there || !p.objective.Space.Exists(i, values) {
			continue
		}
		var word string
		if json.Unmarshal(text, &word) != nil {
			word = string(text)
		}
		v, err := param.Parse(word)
		if err != nil {
			return optimizer.Proposal{}, fmt.Errorf("the peer's answer: %w", err)
		}
		values = append(values, spaces.Assignment{Name: param.Name, Value: v})
	}
	point, err := p.objective.Space.Encode(values)
	if err != nil {
		return optimizer.Proposal{}, fmt.Errorf("the peer's answer: %w", err)
	}
	return optimizer.Proposal{Point: point, Origin: optimizer.OriginModel}, nil
}

// Tell implements optimizer.Optimizer.
func (p *peer) Tell(o optimizer.Observation) error {
	r := peerResult{Tell: o.Trial, Constraints: o.Constraints}
	if o.Status == optimizer.Succeeded {
		r.Values = negated(o.Values)
	}
	return p.send(r)
}
