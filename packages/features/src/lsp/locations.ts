/** Answers of servers with places in files, as places for people and models. */
import { isRecord } from "@tau/ai/internal";
import { type CodePlace, describePlace, formatPlace } from "@tau/protocol/surface";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { toPath } from "./client.ts";
import { parseRange, type PositionEncoding, type Range, toColumn } from "./positions.ts";
import type { SourceFiles } from "./source-files.ts";

export interface Location {
  path: string;
  range: Range;
}

/** So many places are shown. */
export const maxShownPlaces = 100;
const maxLineLength = 300;

/** Reads one or several locations or links. Leaves out what is none, such as places that are not in files. */
export function parseLocations(value: unknown): Location[] {
  const items = Array.isArray(value) ? (value as unknown[]) : [value];
  const locations = items.slice(0, 10_000).flatMap((item): Location[] => {
    if (!isRecord(item)) return [];
    const path = toPath(item["uri"] ?? item["targetUri"]);
    const range = parseRange(item["range"] ?? item["targetSelectionRange"] ?? item["targetRange"]);
    return path !== undefined && range ? [{ path, range }] : [];
  });
  const keys = new Set<string>();
  return locations.filter((location) => {
    const { start } = location.range;
    const key = `${location.path}:${start.line}:${start.character}`;
    return !keys.has(key) && keys.add(key);
  });
}

interface PlaceOptions {
  files: SourceFiles;
  encoding: PositionEncoding;
  /** How many lines around the place are shown. Default 0. */
  context?: number;
}

export async function toPlaces(locations: readonly Location[], options: PlaceOptions): Promise<CodePlace[]> {
  return await Promise.all(locations.slice(0, maxShownPlaces).map((location) => toPlace(location, options)));
}

export async function toPlace({ path, range }: Location, options: PlaceOptions): Promise<CodePlace> {
  const { files, encoding, context = 0 } = options;
  const { start, end } = range;
  const source = await files.readNamed(path);
  const current = source?.lines.get(start.line);
  const column = current === undefined ? start.character : toColumn(current, start.character, encoding);
  const place: CodePlace = {
    path: toVisibleLine(files.show(path), 1_000),
    line: start.line + 1,
    column: column + 1,
    ...(end.line > start.line && { endLine: end.line + 1 }),
  };
  if (!source || current === undefined) return place;
  const first = Math.max(0, start.line - context);
  const numbers = Array.from({ length: start.line + context - first + 1 }, (_, index) => first + index);
  const lines = numbers.flatMap((number) => {
    const line = source.lines.get(number);
    return line === undefined ? [] : [toVisible(line.slice(0, maxLineLength))];
  });
  return { ...place, excerpt: { firstLine: first + 1, lines, current: start.line + 1 } };
}

/** Writes places for a model: the place, what it is, and its lines with their numbers. */
export function formatPlaces(places: readonly CodePlace[], total = places.length): string {
  const texts = places.map((place) => {
    const { excerpt, severity } = place;
    const words = [severity, describePlace(place)].filter(Boolean).join(": ");
    const [only] = excerpt?.lines ?? [];
    if (words === "" && excerpt?.lines.length === 1) return `${formatPlace(place)}: ${only!.trim()}`;
    const lines = (excerpt?.lines ?? []).map((line, index) => `  ${excerpt!.firstLine + index}: ${line}`);
    return [`${formatPlace(place)}${words === "" ? "" : `: ${words}`}`, ...lines].join("\n");
  });
  const left = total - places.length;
  return [...texts, ...(left > 0 ? [`… and ${left} more.`] : [])].join("\n");
}
