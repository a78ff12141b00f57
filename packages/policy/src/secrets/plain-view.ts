/** A view of any value as text, list or fields. */

type PlainView =
  | { kind: "text"; text: string }
  | { kind: "list"; items: Iterable<unknown> }
  /** Each field has its own function, since reading it may throw. */
  | { kind: "fields"; entries: () => Iterable<readonly [string, () => unknown]> };

/** For values that JSON does not have. May throw what a proxy or a getter throws. */
export function plainView(value: unknown): PlainView {
  switch (typeof value) {
    case "bigint":
      return text(`${value}n`);
    case "symbol":
      return text(`[${String(value)}]`);
    case "function":
      return text(`[function ${String(value.name)}]`);
    default:
      return viewObject(value as object);
  }
}

const text = (text: string): PlainView => ({ kind: "text", text });

function viewObject(value: object): PlainView {
  if (Array.isArray(value)) return { kind: "list", items: value };
  if (value instanceof Date) return text(Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString());
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

/** The most useful fields of an error are not enumerable. */
function* errorFields(error: Error): Generator<readonly [string, () => unknown]> {
  yield ["name", () => error.name];
  yield ["message", () => error.message];
  yield ["stack", () => error.stack];
  if ("cause" in error) yield ["cause", () => error.cause];
  if (error instanceof AggregateError) yield ["errors", () => error.errors];
  for (const [name, read] of ownFields(error)) if (!errorFieldNames.has(name)) yield [name, read];
}

const errorFieldNames = new Set(["name", "message", "stack", "cause", "errors"]);

function* pairs(entries: Iterable<[unknown, unknown]>): Generator<readonly [string, () => unknown]> {
  for (const [key, value] of entries) yield [typeof key === "string" ? key : getName(key), () => value];
}

const getName = (key: unknown): string => (typeof key === "object" && key !== null ? "[object]" : String(key));
