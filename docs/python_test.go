package docs_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every block of Python is Python, and those that send a trial to other tools make the calls
// that they should, to tools that only take notes, with the
// names that the spec has.
func TestPythonBlocks(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("builds and runs lbotune")
	case !installed("python3"):
		t.Skip("python3 is not installed")
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var texts, hooks []string
	for _, page := range append(pages, "README.md") {
		for _, b := range blocks(t, page) {
			if b.lang == "python" {
				texts = append(texts, b.text)
				if page == filepath.Join("docs", "hooks.md") {
					hooks = append(hooks, b.text)
				}
			}
		}
	}
	if len(texts) < 8 || len(hooks) != 3 {
		t.Fatalf("found %d blocks, %d of them in hooks.md", len(texts), len(hooks))
	}
	in, err := json.Marshal(map[string]any{"texts": texts, "hooks": strings.Join(hooks, "\n")})
	if err != nil {
		t.Fatal(err)
	}
	putOnPath(t)
	dir := t.TempDir()
	tuned := exec.Command("lbotune", "run", "-q", "-n", "1", "--name", "net", "-p", "learningRate=float:0:1", "--minimize", "valLoss", "--", "echo valLoss={learningRate}")
	tuned.Dir = dir
	if out, err := tuned.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command("python3", "-c", `
import ast, json, sys
from unittest.mock import MagicMock, call
given = json.load(sys.stdin)
for text in given["texts"]:
    ast.parse(text)
for name in ["mlflow", "wandb", "torch", "torch.utils", "torch.utils.tensorboard"]:
    sys.modules[name] = MagicMock()
exec(given["hooks"])
params, metrics = {"learningRate": 0.5}, {"valLoss": 0.5}
assert mlflow.method_calls == [call.set_experiment("net"), call.start_run(run_name="trial 1"),
    call.log_params(params), call.log_metrics(metrics), call.set_tag("status", "succeeded")], mlflow.method_calls
assert wandb.method_calls == [call.init(project="net", name="trial 1", config=params)], wandb.method_calls
assert run.method_calls == [call.log(metrics), call.finish(exit_code=0)], run.method_calls
assert SummaryWriter.mock_calls[0] == call("net.study/tensorboard/1")
assert call(params, metrics) in writer.add_hparams.mock_calls
`)
	cmd.Stdin, cmd.Dir = bytes.NewReader(in), dir
	cmd.Env = append(cmd.Environ(), "LBOTUNE_NAME=net", "LBOTUNE_STUDY=net.study", "LBOTUNE_TRIAL=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
