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
func parsePath(field, expr string) (path jsonPath, err error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(expr, "$"), ".")
	complain := func(problem string) (jsonPath, error) {
		return nil, &RuleError{Field: field, Value: expr, Offset: len(expr) - len(rest), Problem: problem,
			Hint: `a path is written as in eval.history[-1]["val.loss"]`}
	}
	for {
		var step pathStep
		var after string
		bracket, closed := strings.HasPrefix(rest, "["), false
		switch {
		case bracket && len(rest) > 1 && (rest[1] == '"' || rest[1] == '\''):
			if step.key, after, closed = strings.Cut(rest[2:], rest[1:2]+"]"); !closed {
				return complain("has a quoted key without its end")
			}
		case bracket:
			var text string
			if text, after, closed = strings.Cut(rest[1:], "]"); !closed {
				return complain("has a [ without a ]")
			}
			step.isIndex = true
			if step.index, err = strconv.Atoi(text); err != nil {
				return complain(fmt.Sprintf("has %q in brackets, which is neither an index nor a quoted key", text))
			}
		default:
			size := strings.IndexAny(rest+".", ".[")
			if size == 0 {
				return complain("has an empty key")
			}
			step.key, after = rest[:size], rest[size:]
		}
		path = append(path, step)
		switch rest = after; {
		case rest == "":
			return path, nil
		case rest[0] == '.':
			rest = rest[1:]
		case rest[0] != '[':
			return complain("has something after a bracket that is neither a dot nor a bracket")
		}
	}
}

// dead says where a path ended too early.
type dead struct {
	depth int    // steps that could be taken
	why   string // what the text has instead
	near  []string
	hint  func() string // what path was meant; nil if that is not known
}

// lookup follows the path as far as it goes.
func (p jsonPath) lookup(value any) (found any, end *dead) {
	for i, step := range p {
		switch node := value.(type) {
		case map[string]any:
			next, ok := node[step.key]
			if !ok || step.isIndex {
				return nil, &dead{depth: i, why: fmt.Sprintf("has no %s%s", step, p[:i].under()), near: slices.Sorted(maps.Keys(node))}
			}
			value = next
		case []any:
			index, ok := step.in(node)
			if !ok {
				return nil, &dead{depth: i, why: fmt.Sprintf("has a list of %d, and no %s%s", len(node), step, p[:i].under())}
			}
			value = node[index]
		default:
			return nil, &dead{depth: i, why: fmt.Sprintf("has a single value at %q, and no %s under it", p[:i], step)}
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
