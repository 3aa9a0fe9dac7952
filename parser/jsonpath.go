package parser

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// jsonPath leads from a JSON text to one of its values.
type jsonPath []pathStep

// pathStep is a key of an object or an index of a list; a negative index counts
// from the end.
type pathStep struct {
	key     string
	index   int
	isIndex bool
}

// parsePath reads keys joined by dots, and indices or quoted keys in brackets:
// eval.history[-1]["val.loss"]. A leading $ is allowed.
func parsePath(field, expr string) (jsonPath, error) {
	var path jsonPath
	rest := strings.TrimPrefix(expr, "$")
	complain := func(problem string) error {
		return &RuleError{Field: field, Value: expr, Offset: len(expr) - len(rest), Problem: problem,
			Hint: `a path is written as in eval.history[-1]["val.loss"]`}
	}
	rest = strings.TrimPrefix(rest, ".")
	for {
		step, size, problem := firstStep(rest)
		if problem != "" {
			return nil, complain(problem)
		}
		path = append(path, step)
		rest = rest[size:]
		if rest == "" {
			return path, nil
		}
		if rest[0] == '.' {
			rest = rest[1:]
		} else if rest[0] != '[' {
			return nil, complain("has something after a bracket that is neither a dot nor a bracket")
		}
	}
}

func firstStep(rest string) (step pathStep, size int, problem string) {
	if !strings.HasPrefix(rest, "[") {
		size = strings.IndexAny(rest, ".[")
		if size < 0 {
			size = len(rest)
		}
		if size == 0 {
			return step, 0, "has an empty key"
		}
		return pathStep{key: rest[:size]}, size, ""
	}
	if len(rest) > 1 && (rest[1] == '"' || rest[1] == '\'') {
		end := strings.Index(rest[2:], rest[1:2]+"]")
		if end < 0 {
			return step, 0, "has a quoted key without its end"
		}
		return pathStep{key: rest[2 : 2+end]}, end + 4, ""
	}
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return step, 0, "has a [ without a ]"
	}
	index, err := strconv.Atoi(rest[1:end])
	if err != nil {
		return step, 0, fmt.Sprintf("has %q in brackets, which is neither an index nor a quoted key", rest[1:end])
	}
	return pathStep{index: index, isIndex: true}, end + 1, ""
}

// dead says where a path ended too early.
type dead struct {
	depth int    // steps that could be taken
	why   string // what the text has instead
	near  []string
}

// lookup follows the path as far as it goes.
func (p jsonPath) lookup(value any) (found any, end *dead) {
	for i, step := range p {
		switch node := value.(type) {
		case map[string]any:
			next, ok := node[step.key]
			if !ok || step.isIndex {
				return nil, &dead{i, fmt.Sprintf("has no %s%s", step, p[:i].under()), slices.Sorted(maps.Keys(node))}
			}
			value = next
		case []any:
			index, ok := step.in(node)
			if !ok {
				return nil, &dead{i, fmt.Sprintf("has a list of %d, and no %s%s", len(node), step, p[:i].under()), nil}
			}
			value = node[index]
		default:
			return nil, &dead{i, fmt.Sprintf("has a single value at %q, and no %s under it", p[:i], step), nil}
		}
	}
	return value, nil
}

// in gives the step's place in a list.
func (s pathStep) in(list []any) (int, bool) {
	index := s.index
	if !s.isIndex {
		var err error
		if index, err = strconv.Atoi(s.key); err != nil {
			return 0, false
		}
	}
	if index < 0 {
		index += len(list)
	}
	return index, 0 <= index && index < len(list)
}

func (s pathStep) String() string {
	if s.isIndex {
		return fmt.Sprintf("[%d]", s.index)
	}
	return strconv.Quote(s.key)
}

func (p jsonPath) under() string {
	if len(p) == 0 {
		return ""
	}
	return fmt.Sprintf(" under %q", p)
}

// String writes the path as parsePath reads it.
func (p jsonPath) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case step.isIndex:
			fmt.Fprintf(&b, "[%d]", step.index)
		case step.key == "" || strings.ContainsAny(step.key, ".["):
			fmt.Fprintf(&b, "[%q]", step.key)
		case i > 0:
			b.WriteString("." + step.key)
		default:
			b.WriteString(step.key)
		}
	}
	return b.String()
}
