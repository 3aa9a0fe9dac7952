package spec

import "strings"

const above = "write it at the top of the file, above all tables"

// otherKeys says what is written here instead of the keys that other tools have, by
// the table that they would stand in.
func otherKeys(path string) map[string]string {
	switch {
	case path == "":
		return map[string]string{
			"program": "the command line is command", "script": "the command line is command", "cmd": "the command line is command",
			"parameters": "a parameter is a table [params.NAME]", "space": "a parameter is a table [params.NAME]",
			"search_space": "a parameter is a table [params.NAME]",
			"study":        "name and seed stand at the top of the file, above all tables",
			"metric":       "what is optimized belongs in [objective]", "direction": "it belongs in [objective]", "goal": "a value that is good enough is goal in [budget]",
			"trials": "it belongs in [budget]", "n_trials": "write trials in [budget]", "max_trials": "write trials in [budget]", "time": "it belongs in [budget]",
			"timeout": "it belongs in [run]", "workers": "it belongs in [run]", "n_jobs": "write workers in [run]", "env": "it belongs in [run]",
			"method": "it belongs in [optimizer]", "sampler": "write method in [optimizer]", "algorithm": "write method in [optimizer]",
			"pruner": "trials are stopped early by [prune]", "early_terminate": "trials are stopped early by [prune]",
		}
	case path == "run":
		return map[string]string{
			"command": above, "name": above, "seed": above, "setup": above, "where": above,
			"trials": "it belongs in [budget]", "time": "it belongs in [budget]",
		}
	case strings.HasPrefix(path, "params."):
		return map[string]string{
			"distribution": `it is type: "float", "int", "ordered", "choice" or "bool"`, "kind": `it is type: "float", "int", "ordered", "choice" or "bool"`,
			"values": `a list of values is choices; where their order matters write type = "ordered"`, "categories": "a list of values is choices", "options": "a list of values is choices",
			"low": "write min", "lower": "write min", "minimum": "write min", "high": "write max", "upper": "write max", "maximum": "write max",
			"range": "write min and max", "bounds": "write min and max", "log": `write scale = "log"`, "log_scale": `write scale = "log"`,
			"q": "write step", "quantization": "write step", "initial": "write default", "init": "write default", "start": "write default",
			"condition": "write when", "if": "write when",
		}
	}
	return nil
}

// otherWords says what is written here instead of the words that other tools have.
// It is looked up by one of the words that are allowed in their place.
var otherWords = map[string]map[string]string{
	"choice": {
		"categorical": `write type = "choice"`, "category": `write type = "choice"`, "enum": `write type = "choice"`, "ordinal": `write type = "ordered"`,
		"string": `write type = "choice" with choices`, "discrete": `write type = "choice" with choices`, "grid": `write type = "choice" with choices`,
		"integer": `write type = "int"`, "randint": `write type = "int"`, "int_uniform": `write type = "int"`,
		"real": `write type = "float"`, "double": `write type = "float"`, "number": `write type = "float"`, "uniform": `write type = "float"`,
		"loguniform": `write type = "float" and scale = "log"`, "log_uniform": `write type = "float" and scale = "log"`,
		"log_uniform_values": `write type = "float" and scale = "log"`, "log": `write type = "float" and scale = "log"`,
		"boolean": `write type = "bool"`, "flag": `write type = "bool"`, "switch": `write type = "bool"`,
		"quniform": `write type = "float" or "int", and step`,
	},
	"lbo": {
		"tpe": "the method with a model is lbo, the default", "bayes": "the method with a model is lbo, the default",
		"bayesian": "the method with a model is lbo, the default", "bo": "the method with a model is lbo, the default",
		"gp": "the method with a model is lbo, the default", "smac": "the method with a model is lbo, the default",
	},
	"linear": {"logistic": `write scale = "logit"`, "uniform": `write scale = "linear", the default`, "loguniform": `write scale = "log"`, "log10": `write scale = "log"`},
}
