package command

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/spaces"
)

// setTOML keeps no comments.
func setTOML(text []byte, path string, v spaces.Value) ([]byte, error) {
	var root map[string]any
	if err := toml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("read the base file: %w", err)
	}
	if _, err := setAny(root, path, strings.Split(path, "."), v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(asRead(root)); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return out.Bytes(), nil
}

// asRead moves dates and times without a zone so that they are written as they were read: the decoder
// takes them for those of this machine's zone, and the encoder writes what they are in UTC.
func asRead(node any) any {
	switch node := node.(type) {
	case map[string]any:
		for k, v := range node {
			node[k] = asRead(v)
		}
	case []map[string]any:
		for _, v := range node {
			asRead(v)
		}
	case []any:
		for i, v := range node {
			node[i] = asRead(v)
		}
	case time.Time:
		if strings.HasSuffix(node.Location().String(), "-local") {
			_, east := node.Zone()
			return node.Add(time.Duration(east) * time.Second)
		}
	}
	return node
}

// setAny sets a value in decoded tables and lists, and returns what then stands for node.
func setAny(node any, path string, keys []string, v spaces.Value) (any, error) {
	if len(keys) == 0 {
		switch node.(type) {
		case map[string]any, []map[string]any, []any:
			return nil, notAValue(path)
		}
		return v.Any(), nil
	}
	missing := &PathError{Path: path, Missing: keys[0]}
	i, err := strconv.Atoi(keys[0])
	among := func(n int) bool { return err == nil && 0 <= i && i < n }
	switch node := node.(type) {
	case map[string]any:
		old, ok := node[keys[0]]
		if !ok {
			missing.Allowed = slices.Collect(maps.Keys(node))
			return nil, missing
		}
		set, err := setAny(old, path, keys[1:], v)
		if node[keys[0]] = set; set == nil {
			delete(node, keys[0])
		}
		return node, err
	case []map[string]any:
		if among(len(node)) {
			_, err := setAny(node[i], path, keys[1:], v)
			return node, err
		}
	case []any:
		if among(len(node)) {
			set, err := setAny(node[i], path, keys[1:], v)
			if node[i] = set; set == nil {
				node = slices.Delete(node, i, i+1)
			}
			return node, err
		}
	}
	return nil, missing
}
