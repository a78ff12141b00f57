/** The constraints of a schema that Gemini supports, and how to combine them. Pure. */

export const types = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;
export type Type = (typeof types)[number];

/** Every field is a constraint; an unset field means no constraint. */
export interface Shape {
  type?: Type | undefined;
  nullable?: boolean | undefined;
  /** The only allowed values, without null. */
  values?: unknown[] | undefined;
  title?: string;
  description?: string;
  properties?: Map<string, Shape>;
  required?: Set<string>;
  items?: Shape;
  /** Format, pattern and limits, by keyword. */
  bounds?: Map<string, unknown>;
  /** No value is allowed. */
  never?: boolean;
}

/** The shape that satisfies both. If they contradict each other, the constraint of the first is used. */
export function intersect(a: Shape, b: Shape): Shape {
  if (a.never || b.never) return { never: true };
  const type = intersectTypes(a.type, b.type);
  if (type === undefined && a.type !== undefined) return a;
  return {
    ...b,
    ...a,
    type,
    nullable:
      a.nullable === undefined || b.nullable === undefined ? (a.nullable ?? b.nullable) : a.nullable && b.nullable,
    values: intersectValues(a.values, b.values),
    ...(a.properties && b.properties && { properties: mergeProperties(a.properties, b.properties, intersect) }),
    required: new Set([...(a.required ?? []), ...(b.required ?? [])]),
    ...(a.items && b.items && { items: intersect(a.items, b.items) }),
    bounds: new Map([...(b.bounds ?? []), ...(a.bounds ?? [])]),
  };
}

/** The type that both allow; undefined if there is none, or if neither has a type. */
function intersectTypes(a: Type | undefined, b: Type | undefined): Type | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return isNumeric(a) && isNumeric(b) ? "integer" : undefined;
}

const isNumeric = (type: Type | undefined) => type === "number" || type === "integer";

function intersectValues(a: unknown[] | undefined, b: unknown[] | undefined): unknown[] | undefined {
  const common = a && b && a.filter((value) => b.includes(value));
  return common && common.length > 0 ? common : (a ?? b);
}

/**
 * A shape that covers every branch as far as possible: literals become one list of values, objects become one object
 * with all properties, of which those required by every branch are required. If types differ, the first is used.
 */
export function unite(branches: readonly Shape[]): Shape {
  const possible = branches.filter((branch) => !branch.never);
  if (possible.length === 0) return { never: true };
  const nonNull = possible.filter((branch) => branch.type !== "null");
  const nullable = nonNull.length < possible.length || nonNull.some((branch) => branch.nullable) || undefined;
  const [first = { type: "null" as const }, ...others] = nonNull;
  const merged = others.reduce(widen, first);
  return { ...merged, nullable: nullable ?? merged.nullable };
}

function widen(a: Shape, b: Shape): Shape {
  if (a.values && b.values) {
    const type = a.type === b.type ? a.type : isNumeric(a.type) && isNumeric(b.type) ? "number" : "string";
    return { ...getCommonFields(a, b), type, values: [...new Set([...a.values, ...b.values])] };
  }
  if (isNumeric(a.type) && isNumeric(b.type))
    return { ...getCommonFields(a, b), type: a.type === b.type ? a.type : "number" };
  if (a.type !== b.type) return a.type === undefined ? b : a;
  return {
    ...getCommonFields(a, b),
    type: a.type,
    ...(a.properties && b.properties
      ? { properties: mergeProperties(a.properties, b.properties, (x, y) => unite([x, y])) }
      : (a.properties ?? b.properties) && { properties: (a.properties ?? b.properties)! }),
    required: new Set([...(a.required ?? [])].filter((name) => b.required?.has(name))),
    ...(a.items && b.items && { items: unite([a.items, b.items]) }),
  };
}

/** The fields that are equal in both branches. A limit of only one branch does not apply to the union. */
function getCommonFields(a: Shape, b: Shape): Shape {
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
    const existing = merged.get(name);
    merged.set(name, existing ? merge(existing, shape) : shape);
  }
  return merged;
}
