/**
 * Makes one thing of each pair, and the same one again for as long as both live. What layers wrap stays identical from
 * one build to the next in this way, and with it everything that is kept by a tool's identity.
 */
export function oncePerPair<A extends object, B extends object, R extends object>(
  make: (a: A, b: B) => R,
): (a: A, b: B) => R {
  const made = new WeakMap<A, WeakMap<B, R>>();
  return (a, b) => {
    const ofA = made.get(a) ?? new WeakMap<B, R>();
    made.set(a, ofA);
    const thing = ofA.get(b) ?? make(a, b);
    ofA.set(b, thing);
    return thing;
  };
}
