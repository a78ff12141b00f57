/** What there is to see of a value, whatever kind of object it is. */

export type PlainView =
  | { kind: "text"; text: string }
  | { kind: "list"; items: Iterable<unknown> }
  /** Fields are read one by one, since reading one may throw. */
  | { kind: "fields"; entries: () => Iterable<readonly [string, () => unknown]> };

/** For everything that JSON does not hold as it is. May throw what an object throws that does not want to be looked at. */
export function plainView(value: unknown): PlainView {
  switch (typeof value) {
    case "bigint":
      return text(`${value}n`);
    case "symbol":
      return text(`[${String(value)}]`);
    case "function":
      return text(`[function ${String(value.name)}]`);
    default:
      return viewOfObject(value as object);
  }
}

const text = (text: string): PlainView => ({ kind: "text", text });

function viewOfObject(value: object): PlainView {
  if (Array.isArray(value)) return { kind: "list", items: value };
  if (value instanceof Date) return text(Number.isNaN(value.getTime()) ? "[no date]" : value.toISOString());
  if (value instanceof URL || value instanceof RegExp) return text(String(value));
  if (value instanceof Error) return { kind: "fields", entries: () => errorFields(value) };
  if (value instanceof Set) return { kind: "list", items: value };
  if (value instanceof Map || value instanceof Headers || value instanceof URLSearchParams)
    return { kind: "fields", entries: () => pairs(value) };
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return text(`[${value.byteLength} bytes]`);
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef)
    return text(`[${value[Symbol.toStringTag]}]`);
  return { kind: "fields", entries: () => ownFields(value) };
}

function* ownFields(value: object): Generator<readonly [string, () => unknown]> {
  for (const name of Object.keys(value)) yield [name, () => Reflect.get(value, name)];
}

/** The fields of an error that everybody wants to see are not among those that are listed. */
function* errorFields(error: Error): Generator<readonly [string, () => unknown]> {
  yield ["name", () => error.name];
  yield ["message", () => error.message];
  yield ["stack", () => error.stack];
  if ("cause" in error) yield ["cause", () => error.cause];
  if (error instanceof AggregateError) yield ["errors", () => error.errors];
  for (const [name, read] of ownFields(error)) if (!shown.has(name)) yield [name, read];
}

const shown = new Set(["name", "message", "stack", "cause", "errors"]);

function* pairs(entries: Iterable<[unknown, unknown]>): Generator<readonly [string, () => unknown]> {
  for (const [key, value] of entries) yield [typeof key === "string" ? key : getName(key), () => value];
}

const getName = (key: unknown): string => (typeof key === "object" && key !== null ? "[object]" : String(key));
