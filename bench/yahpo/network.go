package yahpo

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// network is the part of ONNX, opset 13, that the surrogates are written in: layers of a
// perceptron, and what prepares their inputs and outputs, for one example at a time.
type network struct {
	constants map[string]tensor
	nodes     []node
	output    string
}

type node struct {
	op              string
	inputs, outputs []string
	ints            map[string]int64
	floats          map[string]float64
	value           tensor // of a Constant
}

// The data types of ONNX that occur.
const (
	float32s = 1
	int32s   = 6
	int64s   = 7
	float64s = 11
)

// tensor has its elements in row-major order. Those of a type narrower than float64 are rounded
// after each operation.
type tensor struct {
	kind  int64
	shape []int
	data  []float64
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func newTensor(kind int64, shape ...int) tensor {
	return tensor{kind: kind, shape: shape, data: make([]float64, size(shape))}
}

// round makes the elements values of the tensor's type.
func (t tensor) round() tensor {
	for i, v := range t.data {
		switch t.kind {
		case float32s:
			t.data[i] = float64(float32(v))
		case int32s, int64s:
			t.data[i] = math.Trunc(v)
		}
	}
	return t
}

// ints are the elements as indices; math.MaxInt64, which says to the end, is none as a float64.
func (t tensor) ints() []int {
	out := make([]int, len(t.data))
	for i, v := range t.data {
		out[i] = int(min(max(v, math.MinInt32), math.MaxInt32))
	}
	return out
}

// run evaluates the network; inputs has a tensor for each of its inputs.
func (n *network) run(inputs map[string]tensor) (t tensor, err error) {
	known := make(map[string]tensor, len(n.nodes)+len(inputs))
	for name, t := range inputs {
		known[name] = t
	}
	for _, node := range n.nodes {
		args := make([]tensor, len(node.inputs))
		for i, name := range node.inputs {
			t, ok := known[name]
			if !ok {
				t, ok = n.constants[name]
			}
			if !ok {
				return tensor{}, fmt.Errorf("%s needs %s, which nothing before it makes", node.op, name)
			}
			args[i] = t
		}
		do := operations[node.op]
		if do.inputs >= 0 && len(args) != do.inputs {
			return tensor{}, fmt.Errorf("%s has %d inputs; want %d", node.op, len(args), do.inputs)
		}
		t, err := do.apply(node, args)
		if err != nil {
			return tensor{}, fmt.Errorf("%s of %v: %w", node.op, node.inputs, err)
		}
		known[node.outputs[0]] = t.round()
	}
	out, ok := known[n.output]
	if !ok {
		return tensor{}, fmt.Errorf("nothing makes the output %s", n.output)
	}
	return out, nil
}

// operation is what an ONNX operator does with this number of inputs, or with any if it is -1.
type operation struct {
	inputs int
	apply  func(node, []tensor) (tensor, error)
}

var operations = map[string]operation{
	"Add":     pairwise(func(a, b float64) float64 { return a + b }),
	"Sub":     pairwise(func(a, b float64) float64 { return a - b }),
	"Mul":     pairwise(func(a, b float64) float64 { return a * b }),
	"Div":     pairwise(func(a, b float64) float64 { return a / b }),
	"Exp":     each(math.Exp),
	"Log":     each(math.Log),
	"Neg":     each(func(v float64) float64 { return -v }),
	"Round":   each(math.RoundToEven),
	"Relu":    each(func(v float64) float64 { return max(v, 0) }),
	"Sigmoid": each(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }),
	"Cast": {1, func(n node, a []tensor) (tensor, error) {
		return tensor{kind: n.ints["to"], shape: a[0].shape, data: slices.Clone(a[0].data)}, nil
	}},
	"Shape": {1, func(_ node, a []tensor) (tensor, error) {
		t := newTensor(int64s, len(a[0].shape))
		for i, d := range a[0].shape {
			t.data[i] = float64(d)
		}
		return t, nil
	}},
	"Unsqueeze":          {2, unsqueeze},
	"Gather":             {2, gather},
	"Concat":             {-1, concat},
	"Slice":              {4, cut},
	"Gemm":               {3, gemm},
	"BatchNormalization": {5, normalize},
}

func each(f func(float64) float64) operation {
	return operation{1, func(_ node, a []tensor) (tensor, error) {
		t := newTensor(a[0].kind, a[0].shape...)
		for i, v := range a[0].data {
			t.data[i] = f(v)
		}
		return t, nil
	}}
}

// pairwise repeats along an axis what has only one element there, as numpy does.
func pairwise(f func(a, b float64) float64) operation {
	return operation{2, func(_ node, in []tensor) (tensor, error) {
		a, b := in[0], in[1]
		rank := max(len(a.shape), len(b.shape))
		dim := func(t tensor, axis int) int {
			if i := axis - (rank - len(t.shape)); i >= 0 {
				return t.shape[i]
			}
			return 1
		}
		out := newTensor(a.kind, make([]int, rank)...)
		for axis := range out.shape {
			p, q := dim(a, axis), dim(b, axis)
			if p != q && p != 1 && q != 1 {
				return tensor{}, fmt.Errorf("shapes %v and %v do not fit", a.shape, b.shape)
			}
			if out.shape[axis] = p; p == 1 {
				out.shape[axis] = q
			}
		}
		out.data = make([]float64, size(out.shape))
		for k := range out.data {
			i, j, stepA, stepB := 0, 0, 1, 1
			for axis, rest := rank-1, k; axis >= 0; axis-- {
				at := rest % out.shape[axis]
				rest /= out.shape[axis]
				if p := dim(a, axis); p > 1 {
					i += at * stepA
					stepA *= p
				}
				if q := dim(b, axis); q > 1 {
					j += at * stepB
					stepB *= q
				}
			}
			out.data[k] = f(a.data[i], b.data[j])
		}
		return out, nil
	}}
}

func unsqueeze(_ node, a []tensor) (tensor, error) {
	shape := slices.Clone(a[0].shape)
	for _, axis := range a[1].ints() {
		if axis < 0 || axis > len(shape) {
			return tensor{}, fmt.Errorf("no place for axis %d", axis)
		}
		shape = slices.Insert(shape, axis, 1)
	}
	return tensor{kind: a[0].kind, shape: shape, data: a[0].data}, nil
}

// along is an axis of a shape, which counts from the end if it is negative.
func along(shape []int, axis int) (int, error) {
	if axis < -len(shape) || axis >= len(shape) {
		return 0, fmt.Errorf("shape %v has no axis %d", shape, axis)
	}
	if axis < 0 {
		axis += len(shape)
	}
	return axis, nil
}

// take keeps of an axis what has these indices; its length becomes shape.
func take(t tensor, axis int, indices, shape []int) (tensor, error) {
	axis, err := along(t.shape, axis)
	if err != nil {
		return tensor{}, err
	}
	length, after := t.shape[axis], size(t.shape[axis+1:])
	out := newTensor(t.kind, slices.Concat(t.shape[:axis], shape, t.shape[axis+1:])...)
	to := out.data[:0]
	for i := range size(t.shape[:axis]) {
		for _, k := range indices {
			if k < 0 {
				k += length
			}
			if k < 0 || k >= length {
				return tensor{}, fmt.Errorf("no index %d among %d", k, length)
			}
			to = append(to, t.data[(i*length+k)*after:][:after]...)
		}
	}
	return out, nil
}

func gather(n node, a []tensor) (tensor, error) {
	return take(a[0], int(n.ints["axis"]), a[1].ints(), a[1].shape)
}

func cut(_ node, a []tensor) (tensor, error) {
	t, starts, ends, axes := a[0], a[1].ints(), a[2].ints(), a[3].ints()
	if len(starts) != len(axes) || len(ends) != len(axes) {
		return tensor{}, fmt.Errorf("%d starts and %d ends for %d axes", len(starts), len(ends), len(axes))
	}
	for i, axis := range axes {
		axis, err := along(t.shape, axis)
		if err != nil {
			return tensor{}, err
		}
		length := t.shape[axis]
		place := func(k int) int {
			if k < 0 {
				k += length
			}
			return min(max(k, 0), length)
		}
		var indices []int
		for k := place(starts[i]); k < place(ends[i]); k++ {
			indices = append(indices, k)
		}
		if t, err = take(t, axis, indices, []int{len(indices)}); err != nil {
			return tensor{}, err
		}
	}
	return t, nil
}

func concat(n node, a []tensor) (tensor, error) {
	if len(a) == 0 {
		return tensor{}, errors.New("nothing to join")
	}
	first, length := a[0].shape, 0
	axis, err := along(first, int(n.ints["axis"]))
	if err != nil {
		return tensor{}, err
	}
	for _, t := range a {
		if len(t.shape) != len(first) || !slices.Equal(t.shape[:axis], first[:axis]) || !slices.Equal(t.shape[axis+1:], first[axis+1:]) {
			return tensor{}, fmt.Errorf("shapes %v and %v do not fit", first, t.shape)
		}
		length += t.shape[axis]
	}
	out := newTensor(a[0].kind, slices.Concat(first[:axis], []int{length}, first[axis+1:])...)
	to := out.data[:0]
	for i := range size(first[:axis]) {
		for _, t := range a {
			block := size(t.shape[axis:])
			to = append(to, t.data[i*block:][:block]...)
		}
	}
	return out, nil
}

// gemm is alpha a bᵀ + beta c, c one row.
func gemm(n node, in []tensor) (tensor, error) {
	a, b, c := in[0], in[1], in[2]
	if n.ints["transB"] != 1 || len(a.shape) != 2 || len(b.shape) != 2 || a.shape[1] != b.shape[1] || len(c.data) != b.shape[0] {
		return tensor{}, fmt.Errorf("want a bᵀ + c; shapes are %v, %v and %v, transB is %d", a.shape, b.shape, c.shape, n.ints["transB"])
	}
	alpha, beta := 1.0, 1.0
	if v, ok := n.floats["alpha"]; ok {
		alpha = v
	}
	if v, ok := n.floats["beta"]; ok {
		beta = v
	}
	out, inner := newTensor(a.kind, a.shape[0], b.shape[0]), a.shape[1]
	for i := range a.shape[0] {
		for j := range b.shape[0] {
			sum := 0.0
			row := b.data[j*inner:][:inner]
			for k, v := range a.data[i*inner:][:inner] {
				sum += v * row[k]
			}
			out.data[i*b.shape[0]+j] = alpha*sum + beta*c.data[j]
		}
	}
	return out, nil
}

// normalize is batch normalization with the means and variances of the training.
func normalize(n node, in []tensor) (tensor, error) {
	a, scale, shift, mean, variance := in[0], in[1], in[2], in[3], in[4]
	if len(a.shape) != 2 || len(scale.data) != a.shape[1] || len(shift.data) != a.shape[1] || len(mean.data) != a.shape[1] || len(variance.data) != a.shape[1] {
		return tensor{}, fmt.Errorf("shape %v does not fit %d scales", a.shape, len(scale.data))
	}
	epsilon, ok := n.floats["epsilon"]
	if !ok {
		epsilon = 1e-5
	}
	out := newTensor(a.kind, a.shape...)
	for i, v := range a.data {
		j := i % a.shape[1]
		out.data[i] = (v-mean.data[j])/math.Sqrt(variance.data[j]+epsilon)*scale.data[j] + shift.data[j]
	}
	return out, nil
}
