/** Puts extensions after those that they depend on. Pure. */

export interface Dependent {
  /** The names under which others know it. */
  readonly names: readonly string[];
  readonly dependencies: readonly string[];
}

interface DependencyOrder<T> {
  /** In the given order, except where a dependency comes first. */
  readonly ordered: readonly T[];
  /** The items that cannot be loaded, and why. */
  readonly refused: readonly { readonly item: T; readonly message: string }[];
}

/** `others` are the names of extensions that are loaded elsewhere. */
export function orderDependencies<T extends Dependent>(
  items: readonly T[],
  others: readonly string[] = [],
): DependencyOrder<T> {
  const byName = new Map(items.toReversed().flatMap((item) => item.names.map((name) => [name, item] as const)));
  const ordered: T[] = [];
  const refused = new Map<T, string>();

  /** Undefined when the item is in order. `path` are the items that wait for it. */
  const visit = (item: T, path: readonly T[]): void => {
    if (ordered.includes(item) || refused.has(item)) return;
    for (const name of item.dependencies) {
      const dependency = byName.get(name);
      if (!dependency && others.includes(name)) continue;
      if (!dependency) return void refused.set(item, `It needs the extension ${name}, which is not there.`);
      const waiting = [...path, item];
      if (waiting.includes(dependency)) {
        const circle = [...waiting.slice(waiting.indexOf(dependency)), dependency].map(({ names }) => names[0]);
        return void refused.set(item, `Its dependencies are a circle: ${circle.join(" needs ")}.`);
      }
      visit(dependency, waiting);
      if (refused.has(dependency)) {
        return void refused.set(item, `It needs the extension ${name}, which cannot be loaded.`);
      }
    }
    ordered.push(item);
  };

  for (const item of items) visit(item, []);
  return { ordered, refused: [...refused].map(([item, message]) => ({ item, message })) };
}
