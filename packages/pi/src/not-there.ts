/**
 * Stands for something that pi exports and tau does not have. An extension that imports it loads; the first use of it
 * throws and names it. It can be called, constructed, extended and asked for static members.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- callers use it in place of functions and classes of any type
export function notThere(name: string, why: string): any {
  const fail = (): never => {
    throw new Error(`${name} is not available in tau: ${why}`);
  };
  const target = Object.defineProperty(function () {}, "name", { value: name });
  return new Proxy(target, {
    apply: fail,
    construct: fail,
    // Modules are inspected when they are loaded and printed: own members, symbols and `then` are no use of it.
    get: (own, key, receiver) =>
      typeof key === "symbol" || key === "then" || Object.hasOwn(own, key) ? Reflect.get(own, key, receiver) : fail(),
  });
}
