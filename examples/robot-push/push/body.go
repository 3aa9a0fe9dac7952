package push

import "math"

// body is a rigid body with a friction joint that resists its motion over the
// table.
type body struct {
	at       Vector // centre of mass
	angle    float64
	velocity Vector
	spin     float64 // rad/s

	mass, inertia float64 // kg, kg·m² about the centre

	// The joint's largest force and torque, and the impulses that it gave in
	// the last step, with which the next step begins.
	maxForce, maxTorque float64
	slide               Vector
	twist               float64
}

// push changes the velocity by an impulse at an arm from the centre.
func (b *body) push(impulse, arm Vector) {
	b.velocity = b.velocity.plus(impulse.times(1 / b.mass))
	b.spin += arm.cross(impulse) / b.inertia
}

// shift changes the position as push changes the velocity.
func (b *body) shift(impulse, arm Vector) {
	b.at = b.at.plus(impulse.times(1 / b.mass))
	b.angle += arm.cross(impulse) / b.inertia
}

// velocityAt is the velocity of the point at an arm from the centre.
func (b *body) velocityAt(arm Vector) Vector {
	return Vector{b.velocity.X - b.spin*arm.Y, b.velocity.Y + b.spin*arm.X}
}

// compliance is the change of velocity along a unit direction at an arm that
// one unit of impulse there brings about: 1/m + (arm×direction)²/I.
func (b *body) compliance(arm, direction Vector) float64 {
	lever := arm.cross(direction)
	return 1/b.mass + lever*lever/b.inertia
}

// warmJoint gives the joint's last impulses again.
func (b *body) warmJoint() {
	b.velocity = b.velocity.plus(b.slide.times(1 / b.mass))
	b.spin += b.twist / b.inertia
}

// solveJoint takes the body's motion away as far as the joint's limits allow
// during a time step h. The limits hold for the sum over the iterations.
func (b *body) solveJoint(h float64) {
	before := b.twist
	limit := h * b.maxTorque
	b.twist = min(max(before-b.inertia*b.spin, -limit), limit)
	b.spin += (b.twist - before) / b.inertia

	was := b.slide
	b.slide = was.minus(b.velocity.times(b.mass))
	if n := b.slide.length(); n > h*b.maxForce {
		b.slide = b.slide.times(h * b.maxForce / n)
	}
	b.velocity = b.velocity.plus(b.slide.minus(was).times(1 / b.mass))
}

func newDisc(radius, density float64) body {
	m := density * math.Pi * radius * radius
	return body{mass: m, inertia: m * radius * radius / 2}
}

// newBox takes half the width and half the height.
func newBox(a, b, density float64) body {
	m := density * 4 * a * b
	return body{mass: m, inertia: m * (a*a + b*b) / 3}
}
