/** What a schema says, as far as Gemini can hear it, and how two such statements combine. Pure. */

export const types = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;
export type Type = (typeof types)[number];

/** Every field is a statement; an unset one says nothing. */
export interface Shape {
  type?: Type | undefined;
  nullable?: boolean | undefined;
  /** The only values allowed, without null. */
  values?: unknown[] | undefined;
  title?: string;
  description?: string;
  properties?: Map<string, Shape>;
  required?: Set<string>;
  items?: Shape;
  /** Format, pattern and limits, by keyword. */
  bounds?: Map<string, unknown>;
  /** Nothing is allowed here. */
  never?: boolean;
}

/** What satisfies both. Statements that contradict each other cannot be said; the first one then counts. */
export function both(a: Shape, b: Shape): Shape {
  if (a.never || b.never) return { never: true };
  const type = commonType(a.type, b.type);
  if (type === undefined && a.type !== undefined) return a;
  return {
    ...b,
    ...a,
    type,
    nullable:
      a.nullable === undefined || b.nullable === undefined ? (a.nullable ?? b.nullable) : a.nullable && b.nullable,
    values: commonValues(a.values, b.values),
    ...(a.properties && b.properties && { properties: mergeProperties(a.properties, b.properties, both) }),
    required: new Set([...(a.required ?? []), ...(b.required ?? [])]),
    ...(a.items && b.items && { items: both(a.items, b.items) }),
    bounds: new Map([...(b.bounds ?? []), ...(a.bounds ?? [])]),
  };
}

/** One type that both allow; undefined when there is none, or when neither says one. */
function commonType(a: Type | undefined, b: Type | undefined): Type | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return isNumeric(a) && isNumeric(b) ? "integer" : undefined;
}

const isNumeric = (type: Type | undefined) => type === "number" || type === "integer";

function commonValues(a: unknown[] | undefined, b: unknown[] | undefined): unknown[] | undefined {
  const shared = a && b && a.filter((value) => b.includes(value));
  return shared && shared.length > 0 ? shared : (a ?? b);
}

/**
 * What covers every branch, or as much of it as one type can: literals become one list of values, objects one object
 * with the properties of all and the requirements that all share. Of branches with different types the first counts.
 */
export function either(branches: readonly Shape[]): Shape {
  const possible = branches.filter((branch) => !branch.never);
  if (possible.length === 0) return { never: true };
  const spoken = possible.filter((branch) => branch.type !== "null");
  const nullable = spoken.length < possible.length || spoken.some((branch) => branch.nullable) || undefined;
  const [first = { type: "null" as const }, ...others] = spoken;
  const merged = others.reduce(widen, first);
  return { ...merged, nullable: nullable ?? merged.nullable };
}

function widen(a: Shape, b: Shape): Shape {
  if (a.values && b.values) {
    const type = a.type === b.type ? a.type : isNumeric(a.type) && isNumeric(b.type) ? "number" : "string";
    return { ...shared(a, b), type, values: [...new Set([...a.values, ...b.values])] };
  }
  if (isNumeric(a.type) && isNumeric(b.type)) return { ...shared(a, b), type: a.type === b.type ? a.type : "number" };
  if (a.type !== b.type) return a.type === undefined ? b : a;
  return {
    ...shared(a, b),
    type: a.type,
    ...(a.properties && b.properties
      ? { properties: mergeProperties(a.properties, b.properties, (x, y) => either([x, y])) }
      : (a.properties ?? b.properties) && { properties: (a.properties ?? b.properties)! }),
    required: new Set([...(a.required ?? [])].filter((name) => b.required?.has(name))),
    ...(a.items && b.items && { items: either([a.items, b.items]) }),
  };
}

/** What two branches say alike; a limit of one alone does not hold for both. */
function shared(a: Shape, b: Shape): Shape {
  return {
    ...(a.title && a.title === b.title && { title: a.title }),
    ...(a.description && a.description === b.description && { description: a.description }),
    bounds: new Map([...(a.bounds ?? [])].filter(([key, value]) => b.bounds?.get(key) === value)),
    nullable: a.nullable === b.nullable ? a.nullable : true,
  };
}

function mergeProperties(
  a: Map<string, Shape>,
  b: Map<string, Shape>,
  merge: (x: Shape, y: Shape) => Shape,
): Map<string, Shape> {
  const merged = new Map(a);
  for (const [name, shape] of b) {
    const other = merged.get(name);
    merged.set(name, other ? merge(other, shape) : shape);
  }
  return merged;
}
