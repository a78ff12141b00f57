/** The fields that only settings have: what they mean depends on where the file is. */
import { resolve } from "node:path";
import { type ModelThinkingLevel, parseThinkingLevel } from "@tau/ai";
import { expandHome } from "../files/agent-dir.ts";
import { isRecord, thinkingLevels } from "@tau/ai/internal";
import type { Field } from "../fields/field.ts";
import { resolvePathEntry } from "../resources/path-filter.ts";
import { list, nonEmptyText, oneOf, scalar } from "../fields/kinds.ts";
import type { FallbackChains } from "../models/fallbacks.ts";

/** The directories that relative paths in a settings file depend on. All absolute. */
export interface SettingsLocation {
  /** The directory of the file. */
  readonly directory: string;
  readonly cwd: string;
  readonly home: string;
}

export interface Shape<T> extends Field<T> {
  /** Resolves an accepted value, such as a relative path. Default: the value itself. */
  resolve?(value: T, location: SettingsLocation): T;
}

const level = oneOf(...thinkingLevels);

/** `none` is what older files call `off`. */
export const thinkingLevel: Shape<ModelThinkingLevel> = {
  ...level,
  schema: { enum: [...thinkingLevels, "none"] },
  // Kept as written, so that a file that is rewritten stays the same.
  read: (value, context) => (value === "none" ? (value as ModelThinkingLevel) : level.read(value, context)),
  resolve: (value) => parseThinkingLevel(value) ?? value,
};

/** A program: a name without a directory stays as it is, to be searched for. */
export const program: Shape<string> = { ...nonEmptyText, resolve: (path, { home }) => expandHome(path, home) };

/** A directory, from the working directory if it is relative. */
export const workingPath: Shape<string> = {
  ...nonEmptyText,
  resolve: (path, { cwd, home }) => resolve(cwd, expandHome(path, home)),
};

/** Files and directories, from the directory of the settings file if they are relative; see `createPathFilter`. */
export const paths: Shape<readonly string[]> = {
  ...list(nonEmptyText),
  resolve: (each, { directory, home }) =>
    each.map((entry) => resolvePathEntry(entry, directory, (path) => expandHome(path, home))),
};

/** A proxy that is not valid would be ignored, and requests would go out without it. */
export const proxyUrl: Shape<string> = scalar({
  expected: "an address that begins with http:// or https://",
  type: "string",
  schema: { type: "string", pattern: "^https?://" },
  accepts: (value): value is string => typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value),
});

const names = list(nonEmptyText);

/** Keys as written; one key needs no list. A value that is wrong is not repeated, because it may be a key. */
export const keyList: Shape<readonly string[]> = {
  type: names.type,
  schema: { anyOf: [names.schema, nonEmptyText.schema] },
  read(value, { path, report }) {
    const isText = (each: unknown) => typeof each === "string" && each.trim() !== "";
    // Kept as written, so that a file that is rewritten stays the same.
    if (isText(value) || (Array.isArray(value) && value.every(isText))) return value as readonly string[];
    report({ kind: "other", path, predicate: "has to be a list of keys." });
    return undefined;
  },
  resolve: (keys) => [keys].flat(),
};

const lists = list(names);

export const fallbackChains: Shape<FallbackChains> = {
  type: `${lists.type} | Record<string, ${names.type}>`,
  schema: { anyOf: [lists.schema, { type: "object", additionalProperties: names.schema }] },
  read(value, context) {
    if (!isRecord(value)) return lists.read(value, context);
    const chains = Object.entries(value).map(([name, chain]) => {
      const { path, report } = context;
      return [name, names.read(chain, { path: [...path, name], report })] as const;
    });
    return Object.fromEntries(chains.flatMap(([name, chain]) => (chain ? [[name, chain]] : [])));
  },
};
