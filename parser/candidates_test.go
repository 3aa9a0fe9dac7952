package parser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

func TestCandidates(t *testing.T) {
	for log, want := range map[string][]string{
		"keras3": {"Epoch: not a number", "accuracy: 4 0.9133", "loss: 4 0.3011", "val_accuracy: 2 0.9344", "val_loss: 2 0.2207", "last number: 4 0.2207"},
		"fairseq": {"begin training epoch: 1 1", "wps: 2 31102", "lr: 2 0.00025", "train epoch: 3 2", "validation epoch: 2 2",
			"train loss: 2 7.022", "validation loss: 2 6.48", "train nll_loss: 2 6.204", "validation nll_loss: 2 5.512",
			"train ppl: 2 73.7", "validation ppl: 2 45.64", "last number: 5 45.64"},
		"lightgbm": {"Bins: 1 6132", "set: 1 7000", "features: 1 28", "score: 1 0.5306", "for: 1 5",
			"training's l2: 4 0.167802", "valid_0's l2: 4 0.199412", "last number: 8 0.199412"},
		"pytorch-tensor": {"epoch: 3 2", "loss: 3 0.3312", "cuda: 3 0", "last number: 3 0"},
		"awk":            {"epoch: 3 10", "loss: 3 0.402", "acc: 3 0.977", "last number: 3 0.977"},
		"phases":         {"train epoch: 2 2", "validation epoch: 2 2", "train loss: 2 0.4", "validation loss: 2 0.55", "last number: 4 0.55"},
		"libsvm":         {"nu: 15 0.395559", "obj: 15 -27.338627", "rho: 15 -0.29345", "nSV: 20 69", "nBSV: 15 29", "Total nSV: 5 69", "Accuracy: 1 80.6667", "last number: 66 80.6667"},
		"weka":           {"Correctly Classified Instances: 1 144", "Incorrectly Classified Instances: 1 6", "statistic: 1 0.94", "error: 1 0.1586", "last number: 4 0.1586"},
		"json-pretty":    {"metrics.accuracy: 1 0.8612", "metrics.auc: not finite", `metrics["val.loss"]: 1 0.4931`},
	} {
		t.Run(log, func(t *testing.T) {
			var got []string
			for _, c := range parser.Candidates([]byte(readLog(t, log))) {
				what := c.Rule.Metric + c.Rule.JSON
				if c.Rule.LastNumber {
					what = "last number"
				}
				if c.Problem != nil {
					got = append(got, fmt.Sprintf("%s: %s", what, c.Problem.Reason))
					continue
				}
				got = append(got, fmt.Sprintf("%s: %d %v", what, c.Result.Count, c.Result.Value))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s:\n got %s\nwant %s", log, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
		})
	}
}

// A dictionary as Python prints it, and a brace at a line's end, look like JSON and are none. Names are found before
// what stands between them and their numbers, too.
func TestCandidatesBesideJSON(t *testing.T) {
	for log, want := range map[string][]string{
		"{'loss': 1.21, 'epoch': 2.9}\n{'eval_loss': 1.302, 'epoch': 3.0}\n{\"f1\": 0.5}\n": {"loss", "epoch", "eval_loss", "f1", ""},
		"epoch 1 {\nloss=0.5\n}\n":            {"epoch", "loss"},
		"acc=0.5 {\n\"loss\": 0.5\n} x=3\n":   {"acc", "loss", ""},
		"epoch [1/5] loss [0.25] acc [0.5]\n": {"loss", "acc", ""},
		"loss: [0.25], 損失：0.5\n":              {"loss", "損失", ""},
	} {
		t.Run(log, func(t *testing.T) {
			var got []string
			for _, c := range parser.Candidates([]byte(log)) {
				got = append(got, c.Rule.Metric+c.Rule.JSON)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", log, got, want)
			}
		})
	}
}

// FuzzCandidates tries each candidate alone.
func FuzzCandidates(f *testing.F) {
	for _, text := range hostile() {
		f.Add([]byte(strings.Repeat(text, 3)))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		for _, c := range parser.Candidates(log) {
			result, err := read(t, c.Rule, parser.Stdout, string(log))
			if (err == nil) != (c.Problem == nil) || err == nil && result.Count != c.Result.Count {
				t.Errorf("%+v of %q: alone %+v, %v", c, log, result, err)
			}
		}
	})
}
