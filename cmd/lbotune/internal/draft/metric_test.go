package draft_test

import (
	"strings"
	"testing"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/draft"
)

func TestDraftTakesTheMetric(t *testing.T) {
	for want, log := range map[string]string{
		"val_loss min":                  "epoch 1 loss=0.5 val_loss=0.6 lr=0.01\nepoch 2 loss=0.4 val_loss=0.5 lr=0.001\n",
		"val_acc max":                   "epoch=1 train_loss=0.5 val_acc=0.6\n",
		"accuracy max":                  "iteration 100\naccuracy: 0.91\ntime 3.2\n",
		"test_rmse min":                 "train_rmse 0.1\ntest_rmse 0.3\n",
		"eval.mean_iou max":             `{"step": 3, "eval": {"mean_iou": 0.7}, "lr": 0.1}` + "\n",
		"perplexity min":                "step 10 | perplexity 33.1 | ms/batch 12\n",
		"mystery min":                   "epoch 3 mystery 5\n",
		"validation_f1 max":             "train_f1=0.9 validation_f1=0.8 epoch=3\n",
		"episode_reward max":            "episode 3 episode_reward 200\n",
		"MSE min":                       "fold 1/2: mse 0.5\nfold 2/2: mse 0.4\nCV MSE: 0.45 (+/- 0.05)\n",
		"Elapsed min":                   "Elapsed: 0.0046 s (check 0)\n",
		"loss min":                      "elapsed 3.1\nloss 0.1\nspeed 5\n",
		"mean_reward max":               "| time/fps | 812 |\nstd_reward=3.2 mean_reward=187.1\n",
		"ep_rew_mean max":               "| rollout/           |          |\n|    ep_len_mean     | 22.2     |\n|    ep_rew_mean     | 182.3    |\n| time/              |          |\n|    fps             | 1013     |\n",
		"images/sec max":                "images/sec: 81.2 batch 3\n",
		"eval_loss min":                 "{'loss': 1.21, 'epoch': 2.9}\n{'eval_loss': 1.302, 'epoch': 3.0}\n",
		"val_loss/dataloader_idx_0 min": "Epoch 0: 100%|##| 3/3 [00:00, v_num=0, val_loss/dataloader_idx_0=0.500, val_loss/dataloader_idx_1=0.600]\n",
		"Train Loss min":                "      Iter       Train Loss      OOB Improve   Remaining Time \n         1           1.2520           0.0432            0.05s\n         2           1.1701           0.0301            0.04s\n",
		"rate max":                      "episodes 30\nwin rate: 0.8\n",
		"rate min":                      "error rate: 5.2%\nitems 3\n",
		"second max":                    "Requests per second:    1234.56 [#/sec] (mean)\n",
		"hour min":                      "cost per hour: 3.2\n",
		"minute min":                    "failures per minute: 3.2\n",
		"sec min":                       "drops per sec: 3.2\n",
		"speed max":                     "speed: 30\n",
		"correlation max":               "correlation: 0.4\nitems 12\n",
		"yield max":                     "yield = 71.00 %\n",
		"results.hits max":              `{"results": {"hits": 98.1, "entries": 4}}` + "\n",
		"p99_ms min":                    "p99_ms 4.86\nqueries 5000\n",
		"last number min":               "width 0.1\nFitted after 12 steps\n     spread\n0.25\n",
		"errors/s min":                  "errors/s: 3.2\n",
		"failures/sec min":              "failures/sec: 3.2\n",
		"cache_misses/s min":            "cache_misses/s: 3.2\n",
		"timeouts/s min":                "timeouts/s: 3.2\n",
		"dropped_frames/s min":          "dropped_frames/s: 3.2\n",
		"req/s min":                     "failed req/s: 3.2\n",
		"Minute min":                    "Failed Requests Per Minute: 3.2\n",
		"req/s max":                     "errors/s: 3.2 req/s: 812\n",
		"reads/s max":                   "ended without errors: reads/s 812\n",
		"throughput max":                "fault-tolerant throughput: 812\n",
		"Speed max":                     "error-free Speed: 12\n",
		"speedup max":                   "drop-in speedup: 1.7\n",
		"Speedup max":                   "miss penalty Speedup: 1.7\n",
		"miss_speedup max":              "miss_speedup=1.7\n",
		"speedup_lost min":              "speedup_lost=1.7\n",
		"ratio max":                     "hit/miss ratio: 12.5\n",
		"Req/s max":                     "(0 errors) Req/s: 812\n",
		"throughput_no_errors max":      "throughput_no_errors: 93.1\n",
		"ops/s max":                     "tests without errors ops/s 812\n",
		"results.missed/s min":          `{"results": {"missed/s": 98.1}}` + "\n",
	} {
		t.Run(want, func(t *testing.T) {
			d := draft.Program{Argv: []string{"./train", "--width=0.1"}}
			if !d.TakeMetric(draft.Output{Text: []byte(log)}) {
				t.Errorf("nothing found in %q", log)
				return
			}
			got := d.Rule.Metric + d.Rule.JSON
			if d.Rule.LastNumber {
				got = "last number"
			}
			if d.Maximize {
				got += " max"
			} else {
				got += " min"
			}
			if got != want {
				t.Errorf("%q: %s, want %s", log, got, want)
			}
			d.Argv = []string{"./train", "--lr", "0.1"}
			if _, src := drafted(t, d); !strings.Contains(src, "The command was run once") {
				t.Errorf("the draft does not say where the metric is from:\n%s", src)
			}
		})
	}
	var d draft.Program
	if d.TakeMetric(draft.Output{Text: []byte("nothing here\n")}) {
		t.Errorf("found %+v where there is nothing", d.Rule)
	}
}

// What is no text, as a compressed file, holds no metric, whatever its bytes look like.
func TestDraftTakesNothingFromBytes(t *testing.T) {
	var d draft.Program
	if d.TakeMetric(draft.Output{Text: []byte("\x1f\x8b\x08\x00\x00\xfe{ 5\nloss 3\n")}) {
		t.Errorf("found %+v", d.Rule)
	}
}
