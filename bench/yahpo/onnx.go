package yahpo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"google.golang.org/protobuf/encoding/protowire"
)

// readNetwork reads a model.onnx.
func readNetwork(path string) (*network, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n, err := parseNetwork(src)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return n, nil
}

func parseNetwork(src []byte) (*network, error) {
	n := &network{constants: map[string]tensor{}}
	err := fields(src, func(f field) error {
		if f.number != 7 { // ModelProto.graph
			return nil
		}
		return fields(f.bytes, n.graph)
	})
	if err != nil {
		return nil, err
	}
	if n.output == "" {
		return nil, errors.New("it has no graph with an output")
	}
	return n, nil
}

// graph reads a field of a GraphProto.
func (n *network) graph(f field) error {
	switch f.number {
	case 1:
		node, err := parseNode(f.bytes)
		if err != nil {
			return err
		}
		if node.op == "Constant" {
			n.constants[node.outputs[0]] = node.value
			return nil
		}
		if _, ok := operations[node.op]; !ok {
			return fmt.Errorf("the operator %q is not among those that the surrogates have", node.op)
		}
		n.nodes = append(n.nodes, node)
	case 5:
		name, t, err := parseTensor(f.bytes)
		if err != nil {
			return err
		}
		n.constants[name] = t
	case 12:
		return fields(f.bytes, func(f field) error {
			if f.number == 1 && n.output == "" {
				n.output = string(f.bytes)
			}
			return nil
		})
	}
	return nil
}

func parseNode(src []byte) (node, error) {
	n := node{ints: map[string]int64{}, floats: map[string]float64{}}
	err := fields(src, func(f field) error {
		switch f.number {
		case 1:
			n.inputs = append(n.inputs, string(f.bytes))
		case 2:
			n.outputs = append(n.outputs, string(f.bytes))
		case 4:
			n.op = string(f.bytes)
		case 5:
			return n.attribute(f.bytes)
		}
		return nil
	})
	if err == nil && len(n.outputs) != 1 {
		err = fmt.Errorf("%s has %d outputs; want 1", n.op, len(n.outputs))
	}
	return n, err
}

func (n *node) attribute(src []byte) error {
	var name string
	return fields(src, func(f field) (err error) {
		switch f.number { // the name comes first
		case 1:
			name = string(f.bytes)
		case 2:
			n.floats[name] = float64(math.Float32frombits(uint32(f.value)))
		case 3:
			n.ints[name] = int64(f.value)
		case 5:
			_, n.value, err = parseTensor(f.bytes)
		}
		return err
	})
}

func parseTensor(src []byte) (string, tensor, error) {
	var name string
	var t tensor
	var raw []byte
	err := fields(src, func(f field) error {
		switch f.number {
		case 1:
			if f.packed() {
				for rest := f.bytes; len(rest) > 0; {
					v, n := protowire.ConsumeVarint(rest)
					if n < 0 {
						return protowire.ParseError(n)
					}
					t.shape, rest = append(t.shape, int(v)), rest[n:]
				}
				return nil
			}
			t.shape = append(t.shape, int(f.value))
		case 2:
			t.kind = int64(f.value)
		case 8:
			name = string(f.bytes)
		case 9:
			raw = f.bytes
		}
		return nil
	})
	if err != nil {
		return name, t, err
	}
	width := map[int64]int{float32s: 4, int32s: 4, int64s: 8, float64s: 8}[t.kind]
	if width == 0 || len(raw) != width*size(t.shape) {
		return name, t, fmt.Errorf("tensor %s of type %d and shape %v has %d raw bytes", name, t.kind, t.shape, len(raw))
	}
	for at := 0; at < len(raw); at += width {
		var v float64
		switch t.kind {
		case float32s:
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[at:])))
		case int32s:
			v = float64(int32(binary.LittleEndian.Uint32(raw[at:])))
		case int64s:
			v = float64(int64(binary.LittleEndian.Uint64(raw[at:])))
		case float64s:
			v = math.Float64frombits(binary.LittleEndian.Uint64(raw[at:]))
		}
		t.data = append(t.data, v)
	}
	return name, t, nil
}

// field is one of a message of protocol buffers: bytes, or a number of any width.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte
	value  uint64
}

func (f field) packed() bool { return f.kind == protowire.BytesType }

func fields(src []byte, each func(field) error) error {
	for len(src) > 0 {
		number, kind, n := protowire.ConsumeTag(src)
		if n < 0 {
			return protowire.ParseError(n)
		}
		f, rest := field{number: number, kind: kind}, src[n:]
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(rest)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(rest)
			f.value = uint64(v)
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(rest)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(rest)
		default:
			n = protowire.ConsumeFieldValue(number, kind, rest)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := each(f); err != nil {
			return err
		}
		src = rest[n:]
	}
	return nil
}
