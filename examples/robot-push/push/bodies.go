package push

import "math"

// body is a rigid body with a friction joint that resists its motion.
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

// compliance is the change of velocity along a direction that a unit of impulse there
// brings about: 1/m + (arm×direction)²/I.
func (b *body) compliance(arm, direction Vector) float64 {
	lever := arm.cross(direction)
	return 1/b.mass + lever*lever/b.inertia
}

// warmJoint gives the joint's last impulses again.
func (b *body) warmJoint() {
	b.velocity = b.velocity.plus(b.slide.times(1 / b.mass))
	b.spin += b.twist / b.inertia
}

// solveJoint takes the body's motion away as far as the joint's limits allow in a
// time step h, for the sum over the iterations.
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

// Vector is a point or a direction in the plane, in metres.
type Vector struct{ X, Y float64 }

func (a Vector) plus(b Vector) Vector            { return Vector{a.X + b.X, a.Y + b.Y} }
func (a Vector) minus(b Vector) Vector           { return Vector{a.X - b.X, a.Y - b.Y} }
func (a Vector) times(s float64) Vector          { return Vector{s * a.X, s * a.Y} }
func (a Vector) dot(b Vector) float64            { return a.X*b.X + a.Y*b.Y }
func (a Vector) cross(b Vector) float64          { return a.X*b.Y - a.Y*b.X }
func (a Vector) length() float64                 { return math.Hypot(a.X, a.Y) }
func (a Vector) clockwise() Vector               { return Vector{a.Y, -a.X} } // by 90°
func (a Vector) rotated(sin, cos float64) Vector { return Vector{cos*a.X - sin*a.Y, sin*a.X + cos*a.Y} }

// Distance between two points.
func (a Vector) Distance(b Vector) float64 { return a.minus(b).length() }

// contact is where hand and object touch; the normal points from one to the other.
type contact struct {
	touching bool

	// The point of the hand that is touched, and the outward normal, in its own frame.
	feature, outward Vector

	normalImpulse, tangentImpulse float64 // accumulated; begin the next step

	// What holds during one step.
	normal, tangent Vector
	handArm, objArm Vector  // from the centres to the point of contact
	normalMass      float64 // impulse that changes the normal velocity by one unit
	tangentMass     float64
}

// find looks for the contact; impulses survive while the bodies keep touching.
func (c *contact) find(hand, object *body) {
	sin, cos := math.Sincos(hand.angle)
	centre := object.at.minus(hand.at).rotated(-sin, cos)
	touched := c.findFeature(centre)
	if !touched || !c.touching {
		c.normalImpulse, c.tangentImpulse = 0, 0
	}
	c.touching = touched
}

// findFeature finds the side or corner of the box nearest to the disc's centre.
func (c *contact) findFeature(centre Vector) bool {
	const reach = ObjectRadius + skin
	// The side that separates most.
	sides := [4]struct {
		outward Vector
		offset  float64
	}{
		{Vector{0, -1}, HandHeight}, {Vector{1, 0}, HandWidth}, {Vector{0, 1}, HandHeight}, {Vector{-1, 0}, HandWidth},
	}
	separation := math.Inf(-1)
	for _, s := range sides {
		if d := s.outward.dot(centre) - s.offset; d > separation {
			separation = d
			c.outward = s.outward
			c.feature = s.outward.times(s.offset) // the middle of the side
		}
	}
	if separation > reach {
		return false
	}
	corner := Vector{math.Copysign(HandWidth, centre.X), math.Copysign(HandHeight, centre.Y)}
	outside := centre.minus(corner)
	beyond := outside.X*corner.X > 0 && outside.Y*corner.Y > 0
	if !beyond { // above a side, or inside
		return true
	}
	n := outside.length()
	if n > reach {
		return false
	}
	c.feature, c.outward = corner, outside.times(1/n)
	return true
}

// prepare fixes the geometry of a step and gives the last one's impulses again.
func (c *contact) prepare(hand, object *body) {
	sin, cos := math.Sincos(hand.angle)
	c.normal = c.outward.rotated(sin, cos)
	c.tangent = c.normal.clockwise()
	// The point of contact lies half-way between the two skins.
	feature := c.feature.rotated(sin, cos).plus(hand.at)
	onHand := object.at.plus(c.normal.times(skin - object.at.minus(feature).dot(c.normal)))
	onObject := object.at.minus(c.normal.times(ObjectRadius))
	point := onHand.plus(onObject).times(0.5)
	c.handArm, c.objArm = point.minus(hand.at), point.minus(object.at)
	c.normalMass = 1 / (hand.compliance(c.handArm, c.normal) + object.compliance(c.objArm, c.normal))
	c.tangentMass = 1 / (hand.compliance(c.handArm, c.tangent) + object.compliance(c.objArm, c.tangent))
	c.apply(hand, object, c.normal.times(c.normalImpulse).plus(c.tangent.times(c.tangentImpulse)))
}

func (c *contact) apply(hand, object *body, impulse Vector) {
	hand.push(impulse.times(-1), c.handArm)
	object.push(impulse, c.objArm)
}

// solve makes one velocity iteration: Coulomb friction against sliding, then
// whatever keeps the bodies from approaching. The accumulated impulses are what
// is clamped, as in sequential impulses (Catto, Iterative Dynamics with
// Temporal Coherence, Game Developers Conference 2005).
func (c *contact) solve(hand, object *body) {
	relative := func() Vector { return object.velocityAt(c.objArm).minus(hand.velocityAt(c.handArm)) }

	before := c.tangentImpulse
	limit := contactFriction * c.normalImpulse
	c.tangentImpulse = min(max(before-c.tangentMass*relative().dot(c.tangent), -limit), limit)
	c.apply(hand, object, c.tangent.times(c.tangentImpulse-before))

	before = c.normalImpulse
	c.normalImpulse = max(before-c.normalMass*relative().dot(c.normal), 0)
	c.apply(hand, object, c.normal.times(c.normalImpulse-before))
}

// separate pushes overlapping bodies apart by a share of what they overlap and
// reports whether they overlap little enough (Baumgarte stabilisation applied
// to positions).
func (c *contact) separate(hand, object *body) bool {
	const (
		share   = 0.2
		slop    = 0.005 // overlap that is left alone, m
		largest = 0.2   // correction at once, m
	)
	sin, cos := math.Sincos(hand.angle)
	normal := c.outward.rotated(sin, cos)
	feature := c.feature.rotated(sin, cos).plus(hand.at)
	gap := object.at.minus(feature).dot(normal) - ObjectRadius - skin
	// Here the contact counts as lying at the disc's centre.
	handArm := object.at.minus(hand.at)
	correction := min(max(-share*(gap+slop), 0), largest)
	impulse := normal.times(correction / (hand.compliance(handArm, normal) + 1/object.mass))
	hand.shift(impulse.times(-1), handArm)
	object.shift(impulse, Vector{})
	return gap >= -3*slop
}
