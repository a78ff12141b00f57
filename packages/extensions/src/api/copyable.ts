/** Makes objects that extensions may copy (`{ ...ctx }`), derive from (`Object.create(ctx)`) and wrap. */

/** The names of the getters of a class and those above it, by its prototype. */
const getters = new Map<object, ReadonlySet<string>>();

function listGetters(prototype: object): ReadonlySet<string> {
  const known = getters.get(prototype);
  if (known) return known;
  const above = Object.getPrototypeOf(prototype) as object | null;
  if (!above) return new Set();
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([, { get }]) => get);
  const names = new Set([...listGetters(above), ...own.map(([name]) => name)]);
  getters.set(prototype, names);
  return names;
}

const listGettersOf = (target: object) => listGetters(Object.getPrototypeOf(target) as object);

const handler: ProxyHandler<object> = {
  // Not with the object that was asked: it may be one that has this as its prototype.
  get: (target, name) => Reflect.get(target, name) as unknown,
  ownKeys: (target) => [...new Set([...Reflect.ownKeys(target), ...listGettersOf(target)])],
  getOwnPropertyDescriptor(target, name) {
    const own = Reflect.getOwnPropertyDescriptor(target, name);
    if (own || typeof name === "symbol" || !listGettersOf(target).has(name)) return own;
    return { get: () => Reflect.get(target, name) as unknown, enumerable: true, configurable: true };
  },
};

/** An instance of a class whose getters look like properties of its own, and work whatever object they are read through. */
export const toCopyable = <T extends object>(instance: T): T => new Proxy(instance, handler) as T;
