/**
 * Calls `make` once for each pair, and returns the same result for as long as both live. So the tools that layers wrap stay
 * identical from one build to the next, and with them everything that is cached by a tool's identity.
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
