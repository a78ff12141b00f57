/** Makes something of each object, and the same again for as long as the object lives. */
export function oncePer<Key extends object, Result>(make: (key: Key) => Result): (key: Key) => Result {
  const made = new WeakMap<Key, { readonly result: Result }>();
  return (key) => {
    const known = made.get(key);
    if (known) return known.result;
    const result = make(key);
    made.set(key, { result });
    return result;
  };
}

/** Makes something of each pair of objects, and the same again for as long as both live. */
export function oncePerPair<A extends object, B extends object, Result>(
  make: (a: A, b: B) => Result,
): (a: A, b: B) => Result {
  const makeOf = oncePer((a: A) => oncePer((b: B) => make(a, b)));
  return (a, b) => makeOf(a)(b);
}
