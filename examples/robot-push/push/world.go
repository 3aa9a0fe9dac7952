package push

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

// drive accelerates the hand towards a velocity and no spin, by a force and a
// torque in proportion to what is missing.
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
