package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

var update = flag.Bool("update", false, "write the schemas anew")

const schemaFile = "../../docs/schema/v1.json"

// schemaOf says what each command prints with --json: one or more values, each of one of
// these kinds.
var schemaOf = map[string][]string{
	"ask": {"asked"}, "adjust": {"change"}, "best": {"summary", "trial"}, "check": {"check", "smoke", "candidate", "trial"},
	"enqueue": {"change"}, "exclude": {"change"}, "explain": {"explanation"}, "export": {"trial"}, "importance": {"importance"}, "include": {"change"},
	"journal repair": {"repaired"}, "journal replay": {"replayed"}, "journal verify": {"verified"}, "ls": {"study"}, "note": {"change"},
	"parse": {"match", "parsed", "candidate"}, "report": {"report"}, "resume": {"summary"}, "run": {"summary", "change"}, "show": {"trial"},
	"status": {"status"}, "tell": {"trial"}, "trials": {"trial"}, "version": {"version"},
}

// schemaTypes are the kinds, and the types that write them.
var schemaTypes = map[string]reflect.Type{
	"asked": reflect.TypeFor[askJSON](), "change": reflect.TypeFor[changeJSON](), "summary": reflect.TypeFor[summaryJSON](),
	"trial": reflect.TypeFor[shownJSON](), "check": reflect.TypeFor[preview](), "smoke": reflect.TypeFor[smokeJSON](),
	"candidate": reflect.TypeFor[candidateJSON](), "explanation": reflect.TypeFor[report.Reason](), "importance": reflect.TypeFor[report.Importances](),
	"repaired": reflect.TypeFor[repairedJSON](), "replayed": reflect.TypeFor[session.Replayed](), "verified": reflect.TypeFor[verifiedJSON](),
	"study": reflect.TypeFor[report.Listed](), "match": reflect.TypeFor[matchJSON](), "parsed": reflect.TypeFor[parsedJSON](),
	"report": reflect.TypeFor[report.Study](), "status": reflect.TypeFor[statusJSON](), "version": reflect.TypeFor[versionJSON](),
	"error": reflect.TypeFor[errorJSON](), "order": reflect.TypeFor[report.Order](), "answer": reflect.TypeFor[report.Answer](),
}

// schemas are those of all kinds, made from the types.
func schemas(t *testing.T) *jsonschema.Schema {
	t.Helper()
	number := &jsonschema.Schema{Types: []string{"number", "null"}}
	float := &jsonschema.Schema{Description: "a number, or what JSON has no number for: NaN, Infinity, -Infinity", Types: []string{"number", "string", "null"}}

	value := &jsonschema.Schema{Description: "of a parameter", Types: []string{"number", "string", "boolean", "null"}}
	opts := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[journal.Float]():  float,
		reflect.TypeFor[*journal.Float](): float,
		reflect.TypeFor[*float64]():       number,
		reflect.TypeFor[report.Number]():  number,
		reflect.TypeFor[report.Numbers](): {Types: []string{"null", "array"}, Items: number},
		reflect.TypeFor[spaces.Value]():   value,
		reflect.TypeFor[study.Reported](): {Type: "object", AdditionalProperties: float},
		reflect.TypeFor[study.Metrics]():  {Type: "object", AdditionalProperties: float},
		reflect.TypeFor[spaces.Values]():  {Types: []string{"object", "null"}, AdditionalProperties: value},
		reflect.TypeFor[study.Duration](): {Type: "string"},
		reflect.TypeFor[study.Reading]():  {Description: "step and value", Type: "array", Items: float},
		reflect.TypeFor[time.Time]():      {Type: "string", Format: "date-time"},
	}}
	all := &jsonschema.Schema{Schema: "https://json-schema.org/draft/2020-12/schema",
		Title: "What lbotune prints with --json, version 1", Defs: map[string]*jsonschema.Schema{}}
	for name, of := range schemaTypes {
		s, err := jsonschema.ForType(of, opts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		openUp(s)
		var commands []string
		for _, c := range slices.Sorted(maps.Keys(schemaOf)) {
			if slices.Contains(schemaOf[c], name) {
				commands = append(commands, c)
			}
		}
		s.Description = strings.Join(commands, ", ")
		all.Defs[name] = s
	}
	all.Defs["error"].Description = "an error, on standard error"
	all.Defs["order"].Description, all.Defs["answer"].Description = "to /api/v1/requests of lbotune serve --control", "of it"
	return all
}

// openUp allows fields that later minor versions may add.
func openUp(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	openUp(s.Items)
	openUp(s.AdditionalProperties)
	for _, p := range s.Properties {
		openUp(p)
	}
}

// The schemas in the documentation are those of the types.
func TestSchemas(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	if err := enc.Encode(schemas(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(schemaFile), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(schemaFile, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("%s is not what the types are; with -update it is written anew: %v", schemaFile, err)
	}
}

// written are the schemas of the documentation.
var written = sync.OnceValues(func() (map[string]*jsonschema.Resolved, error) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		return nil, err
	}
	var all jsonschema.Schema
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	out := map[string]*jsonschema.Resolved{}
	for name, s := range all.Defs {
		if out[name], err = s.Resolve(nil); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// checkSchema holds what a command printed with --json against its schemas.
func checkSchema(ts *testscript.TestScript, args []string) {
	if !slices.Contains(args, "--json") || slices.Contains(args, "--") {
		return
	}
	kinds, known := schemaOf[args[0]]
	if len(args) > 1 && args[0] == "journal" {
		kinds, known = schemaOf[args[0]+" "+args[1]]
	}
	if !known {
		return
	}
	all, err := written()
	ts.Check(err)
	each(ts, ts.ReadFile("stdout"), func(v any) {
		var errs []error
		for _, k := range kinds {
			err := all[k].Validate(v)
			if err == nil {
				return
			}
			errs = append(errs, err)
		}
		ts.Fatalf("what %s printed fits none of %v: %v\n%v", strings.Join(args, " "), kinds, errors.Join(errs...), v)
	})
	if text := ts.ReadFile("stderr"); strings.HasPrefix(text, "{") {
		each(ts, text[:strings.Index(text+"\n", "\n")], func(v any) { ts.Check(all["error"].Validate(v)) })
	}
}

// each decodes the values that text holds.
func each(ts *testscript.TestScript, text string, see func(any)) {
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			return
		}
		ts.Check(err)
		see(v)
	}
}
