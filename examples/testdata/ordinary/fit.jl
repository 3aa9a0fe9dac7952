rate, depth = 0.1, 4
for arg in ARGS
    name, value = split(arg, "=")
    name == "--rate" && (global rate = parse(Float64, value))
    name == "--depth" && (global depth = parse(Int, value))
end
println("loss: ", (log10(rate) + 2)^2 / 10 + abs(depth - 6) / 10)
