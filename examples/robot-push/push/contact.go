package push

import "math"

// contact is where the box of the hand touches the disc of the object. The
// normal points from the hand to the object.
type contact struct {
	touching bool

	// The feature of the hand that is touched, in the hand's own frame: a point
	// of it and the outward normal there.
	feature, outward Vector

	normalImpulse, tangentImpulse float64 // accumulated; begin the next step

	// What holds during one step.
	normal, tangent Vector
	handArm, objArm Vector  // from the centres to the point of contact
	normalMass      float64 // impulse that changes the normal velocity by one unit
	tangentMass     float64
}

// find looks for the contact at the present poses. Impulses survive as long as
// the bodies keep touching.
func (c *contact) find(hand, object *body) {
	sin, cos := math.Sincos(hand.angle)
	centre := object.at.minus(hand.at).rotated(-sin, cos)
	touched := c.findFeature(centre)
	if !touched || !c.touching {
		c.normalImpulse, c.tangentImpulse = 0, 0
	}
	c.touching = touched
}

// findFeature decides which side or corner of the box is nearest to the disc's
// centre, given in the box's frame.
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

// prepare fixes the geometry for the velocity iterations of one step and gives
// the last step's impulses again.
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
