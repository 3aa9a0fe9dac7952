// Pushes an object with Box2D, as examples/robot-push/push does with an engine of its own, and
// prints where it comes to rest. A line of the input is a push: where the hand starts, its
// angle, the velocity that it is driven to, and for how many tenths of a second.
//
//     g++ -O2 -o push scripts/push.cpp -lbox2d && ./push < pushes
//
// It needs Box2D 2.4 (Debian: libbox2d-dev).
#include <box2d/box2d.h>
#include <cstdio>

// place puts a body on the table, whose friction is a joint with what does not move.
static b2Body *place(b2World &world, b2Body *table, b2Vec2 at, float angle, const b2Shape &shape, float density,
                     float friction, float maxForce) {
	b2BodyDef def;
	def.type = b2_dynamicBody;
	def.position = at;
	def.angle = angle;
	b2Body *body = world.CreateBody(&def);
	b2FixtureDef fixture;
	fixture.shape = &shape;
	fixture.density = density;
	fixture.friction = friction;
	body->CreateFixture(&fixture);
	b2FrictionJointDef joint;
	joint.bodyA = table;
	joint.bodyB = body;
	joint.maxForce = maxForce;
	joint.maxTorque = 2;
	world.CreateJoint(&joint);
	return body;
}

int main() {
	float x, y, angle, vx, vy, tenths;
	while (std::scanf("%f %f %f %f %f %f", &x, &y, &angle, &vx, &vy, &tenths) == 6) {
		b2World world(b2Vec2(0, 0));
		b2BodyDef still;
		b2Body *table = world.CreateBody(&still);
		b2CircleShape disc;
		disc.m_radius = 1;
		b2PolygonShape box;
		box.SetAsBox(0.3f, 1);
		b2Body *object = place(world, table, b2Vec2(0, 0), 0, disc, 0.05f, 0.01f, 5);
		b2Body *hand = place(world, table, b2Vec2(x, y), angle, box, 0.1f, 0.1f, 2);
		int driven = int(10 * tenths);
		for (int i = 0; i < driven + 100; i++) {
			if (i < driven) {
				const float gain = 30;
				hand->ApplyForceToCenter(gain * hand->GetMass() * (b2Vec2(vx, vy) - hand->GetLinearVelocity()), true);
				hand->ApplyTorque(-gain * hand->GetMass() * hand->GetAngularVelocity(), true);
			}
			world.Step(0.01f, 10, 10);
		}
		std::printf("%.6f %.6f\n", object->GetPosition().x, object->GetPosition().y);
	}
}
