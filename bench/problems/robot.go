package problems

import (
	"github.com/lbotune/lbotune/examples/robot-push/push"
)

// Goal draws a goal of the robot-pushing tasks: uniform in [−5, 5]², once for
// each run, as the papers have it.
func Goal(seed uint64) push.Vector {
	g := randomPoint(stream(seed, 0x90a1), 2, -5, 5)
	return push.Vector{X: g[0], Y: g[1]}
}

// RobotPush3 is the distance to the goal after a push with three parameters,
// (r_x, r_y, t); see package push. Every trial has its own controller noise,
// drawn from the seed. Min is the bound 0: how near a push can come to the goal
// is not known.
func RobotPush3(goal push.Vector, seed uint64) Problem {
	return robotPush(Problem{
		Name: "robotpush3",
		Low:  []float64{-5, -5, 1},
		High: []float64{5, 5, 30},
	}, goal, seed, func(x []float64) push.Push { return push.Straight(x[0], x[1], x[2]) })
}

// RobotPush4 is the same with four parameters, (r_x, r_y, t, θ).
func RobotPush4(goal push.Vector, seed uint64) Problem {
	const turn = 6.283185307179586
	return robotPush(Problem{
		Name: "robotpush4",
		Low:  []float64{-5, -5, 1, 0},
		High: []float64{5, 5, 30, turn},
	}, goal, seed, func(x []float64) push.Push { return push.Turned(x[0], x[1], x[2], x[3]) })
}

func robotPush(p Problem, goal push.Vector, seed uint64, at func([]float64) push.Push) Problem {
	p.Eval = func(x []float64) float64 { return at(x).Run().Distance(goal) }
	p.Noisy = func(x []float64, trial uint64) float64 {
		return at(x).Shaken(stream(seed, trial).Uint64()).Run().Distance(goal)
	}
	return p
}
