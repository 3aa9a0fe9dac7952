// Package push simulates a robot's hand that pushes a round object over a
// table: the robot-pushing tasks of Wang and Jegelka, Max-value Entropy Search
// for Efficient Bayesian Optimization (ICML 2017), which the paper on Lipschitz
// Bayesian optimization takes as its real problems. It carries its own small
// rigid-body engine: two bodies, one contact, and the friction of the table.
package push

import (
	"math"
	"math/rand/v2"
)

// Push is one attempt to move the object, which rests at the origin.
type Push struct {
	Start    Vector  // centre of the hand
	Angle    float64 // orientation of the hand, rad
	Velocity Vector  // that the hand is driven to, m/s
	Duration float64 // of the drive, in tenths of a second
}

// Straight is the task with three parameters: the hand starts at (x, y), in
// [−5, 5]², facing the object, and is driven at 5 m/s towards it for int(10·t)
// time steps, t in [1, 30].
func Straight(x, y, t float64) Push {
	return Push{Vector{x, y}, facing(x, y), towardsOrigin(x, y, 5), t}
}

// Turned is the task with four parameters: as Straight, but the hand's
// orientation angle, in [0, 2π], is a parameter too, and the speed is 10 m/s.
func Turned(x, y, t, angle float64) Push {
	return Push{Vector{x, y}, angle, towardsOrigin(x, y, 10), t}
}

// facing is atan(y/x), continued to x = 0.
func facing(x, y float64) float64 {
	if x == 0 && y == 0 {
		return 0
	}
	return math.Atan(y / x)
}

// towardsOrigin has no direction, and is zero, at the origin itself.
func towardsOrigin(x, y, speed float64) Vector {
	v := Vector{-x, -y}
	if n := v.length(); n > 0 {
		return v.times(speed / n)
	}
	return Vector{}
}

// Shaken adds the controller's noise: a normal error with standard deviation
// 0.1 m/s on each component of the velocity, the same for the same seed.
func (p Push) Shaken(seed uint64) Push {
	const sd = 0.1
	r := rand.New(rand.NewPCG(seed, 0x9054))
	p.Velocity = p.Velocity.plus(Vector{sd * r.NormFloat64(), sd * r.NormFloat64()})
	return p
}

// Frame is the scene after one time step of 1/100 s.
type Frame struct {
	Hand, Object           Vector
	HandAngle, ObjectAngle float64
}

// Run returns where the object comes to rest.
func (p Push) Run() Vector { return p.Trace(nil) }

// Trace is Run with a look at every time step, the scene before the first one
// included. After the drive ends, the scene runs on for one second.
func (p Push) Trace(each func(Frame)) Vector {
	const after = 100
	w := newWorld(p.Start, p.Angle)
	look := func() {
		if each != nil {
			each(Frame{w.hand.at, w.object.at, w.hand.angle, w.object.angle})
		}
	}
	look()
	driven := int(10 * p.Duration)
	for i := range driven + after {
		w.contact.find(&w.hand, &w.object)
		if i < driven {
			w.drive(p.Velocity)
		}
		w.step()
		look()
	}
	return w.object.at
}

// The scene of Wang and Jegelka, Max-value Entropy Search for Efficient
// Bayesian Optimization (ICML 2017): lengths in metres, time in seconds, seen
// from above.
const (
	HandWidth    = 0.3 // half
	HandHeight   = 1.0 // half
	ObjectRadius = 1.0

	handDensity   = 0.1
	objectDensity = 0.05

	skin = 0.01 // the box is this much larger than its outline

	timeStep   = 0.01
	iterations = 10 // of velocities, and at most of positions

	// The geometric mean of the two surfaces' coefficients, 0.1 and 0.01.
	contactFriction = 0.0316227766016838
)

type world struct {
	hand, object body
	contact      contact
}

func newWorld(hand Vector, angle float64) *world {
	w := &world{hand: newBox(HandWidth, HandHeight, handDensity), object: newDisc(ObjectRadius, objectDensity)}
	w.hand.at, w.hand.angle = hand, angle
	w.hand.maxForce, w.hand.maxTorque = 2, 2
	w.object.maxForce, w.object.maxTorque = 5, 2
	return w
}

// drive accelerates the hand towards a velocity and no spin, as far as these are missing.
func (w *world) drive(velocity Vector) {
	const gain = 30 // 1/s
	h := &w.hand
	h.velocity = h.velocity.plus(velocity.minus(h.velocity).times(gain * timeStep))
	h.spin -= gain * timeStep * h.mass * h.spin / h.inertia
}

// step advances the scene by one time step with semi-implicit Euler: forces,
// which drive has applied, change the velocities; joints and contact correct
// them; the corrected velocities change the positions.
//
// Order and constants follow Box2D 2.4, with which the reference results of
// the test were made.
func (w *world) step() {
	hand, object, c := &w.hand, &w.object, &w.contact
	if c.touching {
		c.prepare(hand, object)
	}
	hand.warmJoint()
	object.warmJoint()
	for range iterations {
		hand.solveJoint(timeStep)
		object.solveJoint(timeStep)
		if c.touching {
			c.solve(hand, object)
		}
	}
	for _, b := range []*body{hand, object} {
		b.at = b.at.plus(b.velocity.times(timeStep))
		b.angle += b.spin * timeStep
	}
	for i := 0; c.touching && i < iterations; i++ {
		if c.separate(hand, object) {
			break
		}
	}
}
