#!/usr/bin/env python3
"""Makes demo: a network with every operator of YAHPO's surrogates, and what numpy says of it.

    cd bench/yahpo/testdata && ./make.py        # needs numpy and python3-onnx
"""
import json

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

rng = np.random.default_rng(1)


def table(*shape):
    return rng.normal(size=shape).astype(np.float32)


embedding, a, ca, b, cb = table(4, 2), table(5, 5), table(5), table(2, 5), table(2)
scale, shift, mean, variance = table(5), table(5), table(5), np.abs(table(5))
nodes, initializers = [], [numpy_helper.from_array(np.asarray(v), n) for n, v in dict(
    embedding=embedding, a=a, ca=ca, b=b, cb=cb, scale=scale, shift=shift, mean=mean, variance=variance).items()]


def constant(name, value):
    nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value))))
    return name


def do(op, *inputs, out, **attributes):
    nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
    return out


one, two = constant("one", np.float32(1)), constant("two", np.float32(2))
x = do("Gather", "x_cont", constant("i0", np.int64(0)), out="first", axis=1)
x = do("Sub", do("Log", do("Add", x, one, out="more"), out="log"), do("Exp", do("Neg", x, out="neg"), out="exp"), out="sub")
x = do("Unsqueeze", do("Mul", x, two, out="double"), constant("axes", np.array([1])), out="column")
y = do("Slice", "x_cont", constant("s", np.array([1])), constant("e", np.array([2**63 - 1])), constant("ax", np.array([-1])), out="rest")
y = do("Round", do("Div", y, constant("half", np.float32(0.5)), out="twice"), out="round")
c = do("Gather", "x_cat", constant("i1", np.int64(0)), out="level", axis=1)
c = do("Gather", "embedding", c, out="embedded")
h = do("Concat", c, x, y, out="all", axis=1)
h = do("BatchNormalization", do("Relu", do("Gemm", h, "a", "ca", out="gemm", alpha=0.5, beta=2.0, transB=1), out="relu"),
       "scale", "shift", "mean", "variance", out="normal", epsilon=1e-3)
h = do("Sigmoid", do("Gemm", h, "b", "cb", out="last", transB=1), out="sigmoid")
width = do("Gather", do("Shape", "x_cont", out="shape"), constant("i2", np.int64(1)), out="width")
do("Add", h, do("Cast", do("Cast", width, out="narrow", to=TensorProto.INT32), out="float", to=TensorProto.FLOAT), out="output")

model = helper.make_model(helper.make_graph(
    nodes, "demo",
    [helper.make_tensor_value_info("x_cat", TensorProto.INT32, ["batch_size", 2]),
     helper.make_tensor_value_info("x_cont", TensorProto.FLOAT, ["batch_size", 3])],
    [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch_size", 2])],
    initializers), opset_imports=[helper.make_opsetid("", 13)])
checker.check_model(model)
save(model, "demo/model.onnx")

cases = []
for level in range(4):
    cont = np.array([rng.uniform(0, 3), rng.uniform(-1, 1), rng.uniform(-1, 1)], np.float32)
    t = (np.log(cont[0] + np.float32(1)) - np.exp(-cont[0])) * np.float32(2)
    h = np.concatenate([embedding[level], [t], np.rint(cont[1:] / np.float32(0.5))])
    h = np.maximum(0.5 * (a @ h) + 2 * ca, 0)
    h = (h - mean) / np.sqrt(variance + 1e-3) * scale + shift
    y = 1 / (1 + np.exp(-(b @ h + cb))) + 3
    cases.append(dict(cat=[level, 0], cont=cont.tolist(), y=y.tolist()))
with open("demo/cases.json", "w") as f:
    json.dump(cases, f, indent=1)
    print(file=f)
