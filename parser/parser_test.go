package parser_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// read runs rule over one stream.
func read(t *testing.T, rule parser.Rule, source parser.Source, text string) (parser.Result, error) {
	t.Helper()
	return readAll(t, rule, map[parser.Source]string{source: text})
}

func readAll(t *testing.T, rule parser.Rule, texts map[parser.Source]string) (parser.Result, error) {
	t.Helper()
	pattern, err := parser.Compile(rule)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	collector := parser.NewCollector(pattern)
	for _, source := range []parser.Source{parser.Stdout, parser.Stderr, parser.File} {
		text, ok := texts[source]
		if !ok {
			continue
		}
		scanner := collector.Scanner(source, nil)
		if _, err := scanner.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := scanner.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return collector.Result(0)
}

func TestMetricByName(t *testing.T) {
	tests := []struct {
		name, text string
		want       float64
	}{
		{"loss", "loss=0.3", 0.3},
		{"loss", "loss: 0.3", 0.3},
		{"loss", `{"loss": 0.3}`, 0.3},
		{"loss", `{"loss":0.3,"acc":1}`, 0.3},
		{"loss", `{'loss': 0.3, 'acc': 1}`, 0.3},
		{"loss", `{"loss": "0.3"}`, 0.3},
		{"loss", `{\"loss\": 0.3}`, 0.3},
		{"loss", "loss 0.3", 0.3},
		{"loss", "loss = 0.3", 0.3},
		{"loss", "loss -> 0.3", 0.3},
		{"loss", "loss->0.3", 0.3},
		{"loss", "loss := 0.3", 0.3},
		{"loss", "loss\t0.3", 0.3},
		{"loss", "[loss]: 0.3", 0.3},
		{"loss", "| loss | 0.3 |", 0.3},
		{"loss", "│ loss │ 0.3 │", 0.3},
		{"loss", "val_loss: 0.9 loss: 0.3 my_loss: 0.8", 0.3},
		{"loss", "loss: 0.3 - val_loss: 0.9", 0.3},
		{"loss", "val/loss 0.9 loss 0.3", 0.3},
		{"loss", "loss_fn=2 loss=0.3", 0.3},
		{"loss", "loss: 0.9\nloss: 0.8 loss: 0.3\n", 0.3},
		{"loss", "loss: 0.9\rloss: 0.3\r", 0.3},
		{"loss", "loss: 0.9\r\nloss: 0.3\r\n", 0.3},
		{"loss", "loss: tensor(0.3, device='cuda:0', grad_fn=<NllLossBackward0>)", 0.3},
		{"loss", "{'loss': np.float64(0.3)}", 0.3},
		{"loss", "loss: Decimal('0.3')", 0.3},
		{"loss", "Test loss: 0.3", 0.3},
		{"loss", "train loss: 0.9\nloss: 0.3\ntrain loss: 0.8", 0.3},
		{"loss", "loss: null\nloss: 0.3\n", 0.3},
		{"loss", "{\"loss\": 0.3}\n{\"loss\": null}", 0.3},
		{"loss", "\xff\xfe loss: 0.3 \x00", 0.3},
		{"loss", "\x1b[32mloss\x1b[0m: \x1b[1m0.3\x1b[0m", 0.3},
		{"acc", "acc: 93.1%", 93.1},
		{"acc", "acc: 93.1 %", 93.1},
		{"loss", "loss: +3e-1", 0.3},
		{"test-logloss", "[9]\ttrain-logloss:0.05\ttest-logloss:0.1", 0.1},
		{"eval/loss", "eval/loss 0.3", 0.3},
		{"metrics.eval.loss", "metrics.eval.loss=0.3", 0.3},
		{"P@1", "P@1\t0.124", 0.124},
		{"Acc (%)", "Acc (%): 93.1", 93.1},
		{"Cross Validation Accuracy", "Cross Validation Accuracy = 96.6%", 96.6},
		{"Accuracy", "Cross Validation Accuracy = 96.6%", 96.6},
		{"val loss", "train loss: 0.9 val loss: 0.3", 0.3},
		{"perte", "perte: 0.3", 0.3},
		{"précision", "précision: 0.3", 0.3},
		{"valid_0's l2", "[100]\tvalid_0's l2: 0.31", 0.31},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.text, func(t *testing.T) {
			got, err := read(t, parser.Rule{Metric: test.name}, parser.Stdout, test.text)
			if err != nil || got.Value != test.want {
				t.Errorf("%q in %q: got %v, %v, want %v", test.name, test.text, got.Value, err, test.want)
			}
		})
	}
}

func TestMetricByNameExplained(t *testing.T) {
	tests := []struct {
		name, text string
		reason     string
		want       string
	}{
		{"loss", "", "no match", `no metric "loss": stdout is empty`},
		{"loss", "a\nb\n", "no match", `no metric "loss" in 2 lines of stdout`},
		{"loss", "val_loss: 0.3", "no match",
			`no metric "loss" in 1 line of stdout; the nearest name there is "val_loss" on line 1`},
		{"loss", "\nLoss: 0.3", "no match",
			`no metric "loss" in 2 lines of stdout; the nearest name there is "Loss" on line 2`},
		{"test_loss", "test-loss: 0.3", "no match",
			`no metric "test_loss" in 1 line of stdout; the nearest name there is "test-loss" on line 1`},
		{"test_loss", "final test loss = 0.3", "no match",
			`no metric "test_loss" in 1 line of stdout; the nearest name there is "test loss" on line 1`},
		{"accuracy", "acuracy=0.3", "no match",
			`no metric "accuracy" in 1 line of stdout; the nearest name there is "acuracy" on line 1`},
		{"loss", "lr: 0.1 epoch: 3", "no match",
			`no metric "loss" in 1 line of stdout; names that stand before numbers there: "lr", "epoch"`},
		{"loss", "loss: MSELoss()", "no match",
			`no metric "loss" in 1 line of stdout; on line 1 it stands before "MSELoss()", which is not a number`},
		{"loss", "loss: [0.3, 0.2]", "no match",
			`no metric "loss" in 1 line of stdout; on line 1 it stands before "[0.3, 0.2]", which is not a number`},
		{"loss", "python train.py --loss 0.3", "no match",
			`no metric "loss" in 1 line of stdout`},
		{"loss", "loss: 0,31", "not a number", `metric "loss": "0,31" on line 1 of stdout is not a number`},
		{"loss", "loss: 0.5\nloss: 0,31", "not a number",
			`metric "loss": "0,31" on line 2 of stdout is not a number`},
		{"loss", "loss: 0.5abc", "not a number", `metric "loss": "0.5abc" on line 1 of stdout is not a number`},
		{"loss", "loss: 1_000", "not a number", `metric "loss": "1_000" on line 1 of stdout is not a number`},
		{"loss", "loss: 0x1p-2", "not a number", `metric "loss": "0x1p-2" on line 1 of stdout is not a number`},
		{"loss", "loss: 0.3\nloss: nan\n", "not finite", `metric "loss" is nan on line 2 of stdout`},
		{"loss", "loss: -Infinity", "not finite", `metric "loss" is -Infinity on line 1 of stdout`},
		{"loss", "loss: 1e999", "not finite",
			`metric "loss" is 1e999 on line 1 of stdout, beyond the range of a float64`},
		{"loss", `{"loss": NaN}`, "not finite", `metric "loss" is NaN on line 1 of stdout`},
		{"loss", "train loss: 0.3, val loss: 0.4", "ambiguous",
			`metric "loss" is ambiguous: the output has train loss (line 1: 0.3) and validation loss (line 1: 0.4)`},
		{"loss", `{"train": {"loss": 0.3}, "test": {"loss": 0.4}}`, "ambiguous",
			`metric "loss" is ambiguous: the output has train loss (line 1: 0.3) and test loss (line 1: 0.4)`},
		{"Loss", "Train: 0 [ 100/200 ( 50%)]  Loss: 0.3 (0.35)\nTest: [  10/10]  Loss:   0.4 (  0.45)\n", "ambiguous", // timm
			`metric "Loss" is ambiguous: the output has train Loss (line 1: 0.3) and test Loss (line 2: 0.4)`},
		{"loss", "Training:  50%|█████     | 5/10 [00:01<00:01,  5.00it/s, loss=0.3]\rValidation: 100%|██████████| 2/2 [00:01<00:00,  2.00it/s, loss=0.4]\n", "ambiguous", // tqdm
			`metric "loss" is ambiguous: the output has train loss (line 1: 0.3) and validation loss (line 1: 0.4)`},
		{"loss", "train: 1/3 loss=0.3\nval: 1/3 loss=0.4\n", "ambiguous",
			`metric "loss" is ambiguous: the output has train loss (line 1: 0.3) and validation loss (line 2: 0.4)`},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.text, func(t *testing.T) {
			got, err := read(t, parser.Rule{Metric: test.name}, parser.Stdout, test.text)
			var e *parser.NoValueError
			if !errors.As(err, &e) {
				t.Errorf("%q in %q: got %+v, %v, want a NoValueError", test.name, test.text, got, err)
				return
			}
			if e.Reason != test.reason || e.Error() != test.want {
				t.Errorf("%q in %q: got %q: %s, want %q: %s", test.name, test.text, e.Reason, e, test.reason, test.want)
			}
		})
	}
}

// What a message quotes is cut between characters.
func TestQuotesAreCutBetweenCharacters(t *testing.T) {
	_, err := read(t, parser.Rule{Metric: "loss"}, parser.Stdout, "loss=1"+strings.Repeat("é", 40)+"\n")
	var none *parser.NoValueError
	if want := "1" + strings.Repeat("é", 29) + "..."; !errors.As(err, &none) || none.Text != want {
		t.Errorf("got %+v; want the text %q", none, want)
	}
}
