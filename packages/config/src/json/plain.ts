/**
 * Reads JSON without comments with the platform's parser, which knows no positions: the one that does takes 15 ms longer for
 * a `models.json` of 9 KB at the start of the program.
 */
import { isRecord, tryParseJson } from "@tau/ai/internal";

/**
 * The object in a text. Objects in it have no prototype. Undefined if the text is not one object of plain JSON, has a name
 * more than once in an object, or is nested more than `maxDepth` levels deep. Pure.
 */
export function parsePlainObject(text: string, maxDepth: number): Record<string, unknown> | undefined {
  const value = tryParseJson(text);
  if (!isRecord(value) || isDeeper(value, maxDepth) || countProperties(value) !== countNames(text)) return undefined;
  return withoutPrototypes(value) as Record<string, unknown>;
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

const isDeeper = (value: unknown, maxDepth: number): boolean =>
  isNested(value) && (maxDepth === 0 || Object.values(value).some((inner) => isDeeper(inner, maxDepth - 1)));

function countProperties(value: unknown): number {
  if (!isNested(value)) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, inner) => sum + countProperties(inner), own);
}

/** In a text that is JSON, a string before a colon is a name. */
function countNames(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g)) if (colon !== undefined) count++;
  return count;
}

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isRecord(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, inner] of Object.entries(value)) copy[name] = withoutPrototypes(inner);
  return copy;
}
