package parser_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

func readLog(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// name is short for the rule that most people write.
func name(metric string) parser.Rule { return parser.Rule{Metric: metric} }

func TestLogs(t *testing.T) {
	tests := []struct {
		log  string
		rule parser.Rule
		want float64
		step float64 // -1 for none
	}{
		{"keras2", name("loss"), 0.3123, -1},
		{"keras2", parser.Rule{Metric: "val_loss", Step: "Epoch"}, 0.2541, 3},
		{"keras2", parser.Rule{Metric: "val_loss", Step: "Epoch", Pick: "first"}, 0.4012, 1},
		{"keras3", name("val_accuracy"), 0.9344, -1},
		{"keras3", parser.Rule{Metric: "val_loss", Step: "Epoch"}, 0.2207, 2},
		{"pytorch-mnist", name("Average loss"), 0.0485, -1},
		{"pytorch-mnist", parser.Rule{Regex: `Accuracy: (\d+)/10000`, Step: "Train Epoch"}, 9839, 2},
		{"pytorch-mnist", parser.Rule{Regex: `Accuracy: .*\((\d+)%\)`, Pick: "max"}, 98, -1},
		{"pytorch-imagenet", name("Acc@1"), 69.758, -1},
		{"pytorch-imagenet", parser.Rule{Regex: `^ \* +Acc@1 (\S+)`, Step: "Epoch"}, 69.758, 0},
		{"pytorch-tensor", parser.Rule{Metric: "loss", Step: "epoch"}, 0.3312, 2},
		{"pytorch-epochs", parser.Rule{Metric: "val_loss", Step: "Epoch"}, 0.6402, 3},
		{"pytorch-epochs", parser.Rule{Metric: "val_loss", Step: "Epoch", Pick: "min"}, 0.6110, 2},
		{"xgboost", parser.Rule{Metric: "test-logloss", Step: `^\[(\d+)\]`}, 0.1, 9},
		{"xgboost-cv", name("test-auc"), 0.966, -1},
		{"lightgbm", parser.Rule{Metric: "valid_0's l2", Step: `^\[(\d+)\]`}, 0.199412, 27},
		{"catboost", name("bestTest"), 0.319611, -1},
		{"catboost", parser.Rule{Metric: "test", Step: `^(\d+):`}, 0.3198732, 200},
		{"fasttext-train", name("avg.loss"), 3.5, -1},
		{"fasttext-test", name("P@1"), 0.124, -1},
		{"libsvm", name("Cross Validation Accuracy"), 80.6667, -1},
		{"libsvm", parser.Rule{LastNumber: true}, 80.6667, -1},
		{"libsvm-svr", name("Cross Validation Mean squared error"), 0.14197, -1},
		{"libsvm-svr", name("Mean squared error"), 0.14197, -1},
		{"liblinear", name("Cross Validation Accuracy"), 48, -1},
		{"sklearn-mlp", parser.Rule{Metric: "loss", Step: "Iteration"}, 0.71100214, 3},
		{"sklearn-mlp", parser.Rule{Dialect: "bare-number"}, 0.9321, -1},
		{"scientific", parser.Rule{Metric: "residual", Step: "iteration"}, 9.98e-9, 300},
		{"fortran", name("F"), 9.881e-4, -1},
		{"scientific", name("energy"), -1.1372, -1},
		{"json-lines", parser.Rule{JSON: "eval.f1", Step: "epoch"}, 0.73, 3},
		{"json-lines", parser.Rule{JSON: "eval.loss", Step: "epoch", Pick: "min"}, 0.48, 2},
		{"json-lines", parser.Rule{Metric: "f1", Step: "epoch"}, 0.73, 3},
		{"json-pretty", parser.Rule{JSON: `metrics["val.loss"]`, Source: parser.File}, 0.4931, -1},
		{"json-pretty", parser.Rule{JSON: `metrics.accuracy`, Source: parser.File}, 0.8612, -1},
		{"json-pretty", parser.Rule{JSON: `history[-1].loss`, Source: parser.File}, 0.47, -1},
		{"json-pretty", parser.Rule{JSON: `$.model.layers[0]`, Source: parser.File}, 64, -1},
		{"python-dict", parser.Rule{Metric: "eval_loss", Step: "epoch"}, 0.4017, 2},
		{"python-dict", parser.Rule{Metric: "loss", Step: "epoch"}, 0.4120, 1.5},
		{"numpy-dict", name("mse"), 0.0312, -1},
		{"tqdm", parser.Rule{Metric: "loss", Step: "Epoch", Source: parser.Stderr}, 0.352, 2},
		{"tqdm", parser.Rule{Metric: "acc", Source: parser.Stderr, Pick: "min"}, 30.97, -1},
		{"colours", name("test_acc"), 0.931, -1},
		{"percent", name("top-1 error"), 33.25, -1},
		{"percent", parser.Rule{Metric: "top-5 error", Step: "Epoch"}, 12.1, 2},
		{"lightning", name("test_loss"), 0.31230002641677856, -1},
		{"vowpal", name("average loss"), 0.331502, -1},
		{"weka", name("Correctly Classified Instances"), 144, -1},
		{"weka", parser.Rule{Regex: `^Correctly Classified Instances +\d+ +(\S+) +%`}, 96, -1},
		{"r-script", parser.Rule{LastNumber: true}, 0.3127419, -1},
		{"csv", parser.Rule{Regex: `^(?P<step>\d+),[^,]+,(?P<value>[^,]+)$`}, 0.377, 3},
		{"csv", parser.Rule{Metric: "valid", Step: "epoch"}, 0.377, 3},
		{"keras-csvlogger", parser.Rule{Metric: "val_loss", Step: "epoch"}, 0.2541, 1},
		{"keras-csvlogger", parser.Rule{Metric: "loss", Step: "epoch", Pick: "first"}, 0.3702, 0},
		{"yolo-results", parser.Rule{Metric: "metrics/mAP50-95(B)", Step: "epoch"}, 0.46012, 2},
		{"yolo-train", parser.Rule{Metric: "box_loss", Step: "Epoch"}, 1.103, 2},
		{"yolo-train", parser.Rule{Metric: "mAP50-95"}, 0.46, -1},
		{"yolo-train", parser.Rule{Metric: "mAP50", Pick: "min"}, 0.605, -1},
		{"yolo-val", name("all mAP50"), 0.624, -1},
		{"yolo-val", name("traffic light R"), 0.14, -1},
		{"fastai", parser.Rule{Metric: "accuracy", Step: "epoch"}, 0.994587, 2},
		{"spacy", parser.Rule{Metric: "SCORE", Step: "#"}, 0.68, 400},
		{"spacy", parser.Rule{Metric: "LOSS NER", Step: "E"}, 950.12, 4},
		{"detectron2", name("AP"), 40.2132, -1},
		{"detectron2", parser.Rule{Metric: "APl", Pick: "first"}, 51.904, -1},
		{"sklearn-report", name("accuracy"), 0.97, -1},
		{"sklearn-report", name("weighted avg f1-score"), 0.98, -1},
		{"sklearn-report-names", name("accuracy"), 0.94, -1},
		{"sklearn-report-names", name("accuracy f1-score"), 0.94, -1},
		{"sklearn-report-names", name("macro avg recall"), 0.92, -1},
		{"sklearn-report-names", name("spam precision"), 0.91, -1},
		{"lightgbm", name("training's l2"), 0.167802, -1},
		{"fairseq", parser.Rule{Metric: "valid loss", Step: "epoch"}, 6.48, 2},
		{"fairseq", parser.Rule{Metric: "train ppl", Step: "epoch"}, 73.7, 2},
		{"pandas", parser.Rule{Metric: "valid_loss", Step: "epoch"}, 0.377, 3},
		{"awk", parser.Rule{Metric: "acc", Step: "epoch"}, 0.977, 10},
		{"markdown", name("accuracy"), 0.912, -1},
		{"phases", parser.Rule{Metric: "valid loss", Step: "epoch"}, 0.55, 2},
		{"train-val", parser.Rule{Metric: "validation Loss", Step: "Epoch"}, 0.702, 2},
		{"sat-solver", parser.Rule{Regex: `process-time: .* ([\d.]+) seconds`}, 15.27, -1},
		{"windows", name("valid score"), 0.78, -1},
		{"latin1", parser.Rule{Regex: `cision = (\S+)`}, 0.8125, -1},
		{"train-val", parser.Rule{Metric: "Valid Loss", Step: "Epoch"}, 0.702, 2},
		{"diverged", parser.Rule{Metric: "loss", Step: "epoch", Pick: "min"}, 2.31, 1},
		{"syne-tune", parser.Rule{Dialect: "tune-metric", Metric: "mean_loss"}, 0.62, 1},
		{"syne-tune", parser.Rule{Dialect: "tune-metric", Metric: "mean_loss", Step: "epoch"}, 0.62, 2},
		{"katib", parser.Rule{Dialect: "metric-value", Metric: "loss"}, 0.3634, -1},
		{"smac3", parser.Rule{Dialect: "cost-status"}, 0.4127, -1},
		{"smac2", parser.Rule{Dialect: "result-line"}, 0.4127, -1},
		{"smac2", parser.Rule{Dialect: "result-line", Metric: "runtime"}, 2.51, -1},
		{"irace", parser.Rule{Dialect: "bare-number"}, 0.2917, -1},
		{"orion", parser.Rule{Dialect: "results-file"}, 0.2917, -1},
		{"fasttext-train-real", name("avg.loss"), 0.202779, -1},
		{"fasttext-test-real", name("P@1"), 0.958, -1},
		{"fio-real", name("IOPS"), 9406, -1},
		{"fio-real", parser.Rule{Regex: `READ: bw=([\d.]+)MiB/s`}, 36.7, -1},
		{"sklearn-report-real", name("accuracy"), 0.82, -1},
		{"sklearn-report-real", name("weighted avg f1-score"), 0.83, -1},
		{"sklearn-report-real", name("class_1 precision"), 0.85, -1},
		{"sklearn-mlp-real", parser.Rule{Metric: "Validation score", Step: "Iteration"}, 0.266667, 6},
		{"sklearn-mlp-real", parser.Rule{Dialect: "bare-number"}, 0.23555555555555555, -1},
		{"xgboost-cv-real", parser.Rule{Metric: "test-auc", Step: `^\[(\d+)\]`}, 0.98532, 5},
		{"xgboost-train-real", parser.Rule{Metric: "validation_1-logloss", Step: `^\[(\d+)\]`}, 0.05544, 39},
		{"xgboost-train-real", parser.Rule{Metric: "validation_1-error", Step: `^\[(\d+)\]`, Pick: "min"}, 0.01399, 25},
		{"pandas-real", parser.Rule{Metric: "valid_loss", Step: "epoch"}, 0.4377, 3},
		{"glmnet-real", name("min cvm"), 1.159702, -1},
		{"r-lm-real", name("Adjusted R-squared"), 0.6438, -1},
		{"r-lm-real", name("Residual standard error"), 15.38, -1},
		{"r-lm-real", name("rmse"), 15.068856, -1},
		{"libsvm-predict-real", name("Accuracy"), 99.4382, -1},
		{"libsvm-svr-real", name("Mean squared error"), 0.0516628, -1},
		{"liblinear-c-real", name("CV accuracy"), 99.4382, -1},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %+v", test.log, test.rule), func(t *testing.T) {
			source := test.rule.Source
			if source == "" {
				source = parser.Stdout
			}
			if test.rule.Dialect == "results-file" {
				source = parser.File
			}
			got, err := read(t, test.rule, source, readLog(t, test.log))
			if err != nil {
				t.Errorf("%s, %+v: %v", test.log, test.rule, err)
				return
			}
			if !got.Reading.HasStep {
				got.Reading.Step = -1
			}
			if got.Value != test.want || got.Reading.Step != test.step {
				t.Errorf("%s, %+v: got %v at step %v, want %v at step %v",
					test.log, test.rule, got.Value, got.Reading.Step, test.want, test.step)
			}
		})
	}
}

func TestLogsExplained(t *testing.T) {
	tests := []struct {
		log    string
		rule   parser.Rule
		reason string
		want   string
		hint   string
	}{
		{"keras2", name("Loss"), "no match",
			`no metric "Loss" in 6 lines of stdout; the nearest name there is "loss" on line 2`,
			`write metric = "loss"`},
		{"keras2", name("val_acc"), "no match",
			`no metric "val_acc" in 6 lines of stdout; the nearest name there is "val_accuracy" on line 2`,
			`write metric = "val_accuracy"`},
		{"pytorch-mnist", name("Accuracy"), "not a number",
			`metric "Accuracy": "9839/10000" on line 13 of stdout is not a number`,
			"if a part of it is the value, find it by regex, with a group around that part"},
		{"xgboost", name("logloss"), "no match",
			`no metric "logloss" in 10 lines of stdout; the nearest name there is "train-logloss" on line 1`,
			`write metric = "train-logloss"`},
		{"xgboost", parser.Rule{Regex: `test-logloss:(\d+)`}, "not a number",
			`the group of regex "test-logloss:(\\d+)" captures only "0" of the number "0.1" on line 10 of stdout`,
			`let the group take the whole number, as ([-+.\w]+) does, and make a .* before it lazy: .*?`},
		{"fasttext-train", name("loss"), "no match",
			`no metric "loss" in 4 lines of stdout; the nearest name there is "avg.loss" on line 4`,
			`write metric = "avg.loss"`},
		{"libsvm", name("Cross validation accuracy"), "no match",
			`no metric "Cross validation accuracy" in 81 lines of stdout; the nearest name there is "Cross Validation Accuracy" on line 81`,
			`write metric = "Cross Validation Accuracy"`},
		{"libsvm", parser.Rule{Dialect: "bare-number"}, "no match",
			`no bare-number report: line 81 of stdout is "Cross Validation Accuracy = 80.6667%"`, ""},
		{"json-lines", parser.Rule{JSON: "test.f1"}, "no match",
			`no JSON value at "test.f1" in 4 lines of stdout; the JSON text on line 1 has no "test"; it has "level", "lr", "msg", "time"`,
			""},
		{"json-lines", parser.Rule{JSON: "eval.F1"}, "no match",
			`no JSON value at "eval.F1" in 4 lines of stdout; the JSON text on line 2 has no "F1" under "eval"; it has "f1", "loss"`,
			`write json = "eval.f1"`},
		{"json-nan", parser.Rule{JSON: "val_loss"}, "not finite",
			`JSON value at "val_loss" is NaN on line 2 of stdout`, ""},
		{"json-nan", name("val_loss"), "not finite", `metric "val_loss" is NaN on line 2 of stdout`, ""},
		{"json-pretty", parser.Rule{JSON: "metrics.auc"}, "not finite",
			`JSON value at "metrics.auc" is NaN on line 1 of stdout`, ""},
		{"json-pretty", parser.Rule{JSON: "metrics.val_loss"}, "no match",
			`no JSON value at "metrics.val_loss" in 12 lines of stdout; the JSON text on line 1 has no "val_loss" under "metrics"; it has "accuracy", "auc", "val.loss"`,
			`write json = "metrics[\"val.loss\"]"`},
		{"json-pretty", parser.Rule{JSON: "history"}, "not a number",
			`JSON value at "history": "a list of 2" on line 1 of stdout is not a number`,
			`for its last entry write json = "history[-1]"`},
		{"json-pretty", parser.Rule{JSON: "history[7].loss"}, "no match",
			`no JSON value at "history[7].loss" in 12 lines of stdout; the JSON text on line 1 has a list of 2, and no [7] under "history"`,
			""},
		{"csv", parser.Rule{LastNumber: true}, "not a number",
			`number on the last line: "3,0.402,0.377" on line 4 of stdout is not a number`,
			"numbers need a decimal point and no separators: run the program with LC_ALL=C, or print one plain number"},
		{"german", name("Verlust"), "not a number",
			`metric "Verlust": "0,3127" on line 2 of stdout is not a number`,
			"numbers need a decimal point and no separators: run the program with LC_ALL=C, or print one plain number"},
		{"train-val", name("Loss"), "ambiguous",
			`metric "Loss" is ambiguous: the output has train Loss (line 2: 0.640) and validation Loss (line 2: 0.702)`,
			`say which one, as in metric = "validation Loss", or by regex`},
		{"diverged", name("loss"), "not finite", `metric "loss" is nan on line 4 of stdout`, ""},
		{"diverged", parser.Rule{Metric: "loss", Pick: "mean"}, "not finite",
			`metric "loss" is nan on line 4 of stdout`, ""},
		{"syne-tune", parser.Rule{Dialect: "tune-metric", Metric: "loss"}, "no match",
			`no tune-metric report of "loss" in 3 lines of stdout; the report on line 2 has "epoch", "mean_loss", "st_worker_iter", "st_worker_time", "st_worker_timestamp"`,
			""},
		{"katib", parser.Rule{Dialect: "metric-value", Metric: "auc"}, "no match",
			`no metric-value report of "auc" in 3 lines of stdout; there are reports of "accuracy", "loss"`,
			""},
		{"smac3-crashed", parser.Rule{Dialect: "cost-status"}, "failed",
			`the program reports that it crashed ("CRASHED" on line 1 of stdout)`, ""},
		{"aclib", parser.Rule{Dialect: "result-line"}, "failed",
			`the program reports that it timed out ("TIMEOUT" on line 1 of stdout)`, ""},
		{"irace", name("cost"), "no match",
			`no metric "cost" in 3 lines of stdout; names that stand before numbers there: "Best route"`, ""},
		{"yolo-val", name("mAP50"), "ambiguous",
			`metric "mAP50" is ambiguous: the output has all mAP50 (line 15: 0.624) and person mAP50 (line 16: 0.76) and traffic light mAP50 (line 17: 0.21)`,
			`say which one, as in metric = "traffic light mAP50", or by regex`},
		{"sklearn-report", name("macro avg"), "ambiguous",
			`metric "macro avg" on line 8 of stdout stands before several numbers: 0.97      0.97      0.97        94`,
			`write metric = "macro avg COLUMN" with the name at the column's head, or find the number by regex`},
		{"sklearn-report", name("f1-score"), "ambiguous",
			`metric "f1-score" is ambiguous: the output has numbered f1-score (line 5: 0.95) and accuracy f1-score (line 7: 0.97) and macro avg f1-score (line 8: 0.97) and weighted avg f1-score (line 9: 0.98)`,
			`say which one, as in metric = "weighted avg f1-score", or by regex`},
		{"sklearn-report-names", name("f1-score"), "ambiguous",
			`metric "f1-score" is ambiguous: the output has spam f1-score (line 3: 0.90) and ham f1-score (line 4: 0.96) and accuracy f1-score (line 6: 0.94) and macro avg f1-score (line 7: 0.93) and 1 more`,
			`say which one, as in metric = "weighted avg f1-score", or by regex`},
		{"lightgbm", name("l2"), "ambiguous",
			`metric "l2" is ambiguous: the output has training's l2 (line 9: 0.167802) and valid_0's l2 (line 9: 0.199412)`,
			`say which one, as in metric = "valid_0's l2", or by regex`},
		{"fairseq", name("loss"), "ambiguous",
			`metric "loss" is ambiguous: the output has train loss (line 4: 7.022) and validation loss (line 5: 6.480)`,
			`say which one, as in metric = "validation loss", or by regex`},
		{"phases", name("loss"), "ambiguous",
			`metric "loss" is ambiguous: the output has train loss (line 4: 0.4) and validation loss (line 5: 0.55)`,
			`say which one, as in metric = "validation loss", or by regex`},
		{"semicolons", name("Verlust"), "not a number",
			`metric "Verlust": "0,377" on line 3 of stdout is not a number`,
			"numbers need a decimal point and no separators: run the program with LC_ALL=C, or print one plain number"},
		{"bash-time", name("real"), "not a number",
			`metric "real": "0m1.234s" on line 3 of stdout is not a number`,
			"it has units: let the program print one plain number, such as seconds (in bash TIMEFORMAT=%R)"},
		{"fio", name("IOPS"), "not a number",
			`metric "IOPS": "316k" on line 2 of stdout is not a number`,
			`it has a unit: if the program always prints the same one, write regex = 'IOPS\W+([-+.\w]+)k', else let it print one plain number`},
		{"fio-real", name("bw"), "not a number",
			`metric "bw": "36.7MiB/s" on line 29 of stdout is not a number`,
			`it has a unit: if the program always prints the same one, write regex = 'bw\W+([-+.\w]+)MiB/s', else let it print one plain number`},
		{"pandas-index-real", name("valid_loss"), "no match",
			`no metric "valid_loss" in 5 lines of stdout; on line 1 it stands at the line's end`,
			"find the number by regex, with a group around it"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %+v", test.log, test.rule), func(t *testing.T) {
			got, err := read(t, test.rule, parser.Stdout, readLog(t, test.log))
			var e *parser.NoValueError
			if !errors.As(err, &e) {
				t.Errorf("%s, %+v: got %v, %v, want a NoValueError", test.log, test.rule, got.Value, err)
				return
			}
			if e.Reason != test.reason || e.Error() != test.want || e.Hint != test.hint {
				t.Errorf("%s, %+v:\n got %q: %s\nhint %s\nwant %q: %s\nhint %s",
					test.log, test.rule, e.Reason, e, e.Hint, test.reason, test.want, test.hint)
			}
		})
	}
}
