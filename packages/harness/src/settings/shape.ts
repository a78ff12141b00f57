/** What the value of a setting may be. Each shape can judge a value, and describe itself to people and to editors. */
import { parseThinkingLevel } from "@tau/ai";
import type { ModelThinkingLevel } from "@tau/ai";
import { join, resolve } from "node:path";

/** Where a settings file stands, for what it says about paths. All absolute. */
export interface SettingsPlace {
  /** The directory of the file. */
  readonly directory: string;
  readonly cwd: string;
  readonly home: string;
}

export interface Shape<T> {
  /** Completes "It has to be …". */
  readonly expected: string;
  /** For a table: short. */
  readonly type: string;
  /** As JSON Schema says it. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The words it can be, for a hint when it is none of them. */
  readonly choices?: readonly string[];
  accepts(value: unknown): value is T;
  /** What an accepted value means where it stands. Default: itself. */
  settle?(value: T, place: SettingsPlace): T;
}

export const flag: Shape<boolean> = {
  expected: "true or false",
  type: "boolean",
  schema: { type: "boolean" },
  accepts: (value) => typeof value === "boolean",
};

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

export const text: Shape<string> = {
  expected: "a text that is not empty",
  type: "string",
  schema: { type: "string", minLength: 1 },
  accepts: isText,
};

/** A text that may be empty, such as the value of a variable. */
export const anyText: Shape<string> = {
  expected: "a text",
  type: "string",
  schema: { type: "string" },
  accepts: (value) => typeof value === "string",
};

export const texts: Shape<readonly string[]> = {
  expected: "a list of texts that are not empty",
  type: "string[]",
  schema: { type: "array", items: text.schema },
  accepts: (value) => Array.isArray(value) && value.every(isText),
};

/** A whole number, 0 or more. `unit` is for people. */
export const count = (unit: string): Shape<number> => ({
  expected: `a whole number of ${unit}, 0 or more`,
  type: "number",
  schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0,
});

/** Any number that is not negative, such as an amount of money. */
export const amount = (unit: string): Shape<number> => ({
  expected: `a number of ${unit}, 0 or more`,
  type: "number",
  schema: { type: "number", minimum: 0 },
  accepts: (value): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0,
});

export const oneOf = <const T extends string>(...choices: readonly T[]): Shape<T> => ({
  expected: `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`,
  type: choices.map((choice) => JSON.stringify(choice)).join(" | "),
  schema: { enum: choices },
  choices,
  accepts: (value): value is T => choices.some((choice) => choice === value),
});

/** `none` is what older files call `off`. */
export const thinkingLevel: Shape<ModelThinkingLevel> = {
  ...oneOf("off", "minimal", "low", "medium", "high", "xhigh", "max"),
  schema: { enum: ["off", "minimal", "low", "medium", "high", "xhigh", "max", "none"] },
  accepts: (value): value is ModelThinkingLevel => isText(value) && parseThinkingLevel(value) !== undefined,
  settle: (value) => parseThinkingLevel(value) ?? value,
};

/** Names in home are the same everywhere. */
const fromHome = (path: string, home: string): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;

/** A program: a name to be searched for stays a name. */
export const program: Shape<string> = { ...text, settle: (path, { home }) => fromHome(path, home) };

/** A directory, from the working directory if it is relative. */
export const workingPath: Shape<string> = {
  ...text,
  settle: (path, { cwd, home }) => resolve(cwd, fromHome(path, home)),
};

/** Files and directories, from the directory of the settings file if they are relative. */
export const paths: Shape<readonly string[]> = {
  ...texts,
  settle: (list, { directory, home }) => list.map((path) => resolve(directory, fromHome(path, home))),
};
