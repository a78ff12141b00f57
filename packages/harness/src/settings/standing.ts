/** What is known of one settings file: what counts of it, and what is wrong with it. */
import type { Path } from "../fields/field.ts";
import type { FileProblem } from "../file-problem.ts";
import { formatPath } from "../fields/problem.ts";
import { type DamagedJson, type JsonDocument, parseJsonDocument, type Position } from "../json/document.ts";
import { checkSettings, type MistakeKind } from "./check.ts";
import type { SettingsInput } from "./schema.ts";
import type { SettingsSource } from "./source.ts";

export type SettingsScope = "global" | "project";

/** A mistake in the settings. Everything else in them counts. */
export interface SettingsProblem extends Required<FileProblem> {
  readonly kind: MistakeKind | "damaged" | "unreadable" | "repeated_setting" | "unwatched" | "listener_failed";
  readonly scope: SettingsScope;
}

export interface Standing {
  /** The last that was right. */
  readonly values: SettingsInput;
  readonly problems: readonly SettingsProblem[];
  readonly isThere: boolean;
}

export const nothingKnown: Standing = { values: {}, problems: [], isThere: false };

export type Reading =
  | JsonDocument
  | DamagedJson
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly message: string };

export async function readSource(source: SettingsSource): Promise<Reading> {
  const read = await source.read();
  return read.kind === "text" ? await parseJsonDocument(read.text) : read;
}

export interface JudgeOptions {
  readonly scope: SettingsScope;
  readonly file: string;
  readonly trusted: boolean;
}

/** Whether this may be a file that somebody is just saving. */
export const isUnsettled = (before: Standing, reading: Reading): boolean =>
  reading.kind === "damaged" || reading.kind === "unreadable" || (reading.kind === "absent" && before.isThere);

/** What is known after a reading. What cannot be understood changes nothing, but is told. Pure. */
export function judge(before: Standing, reading: Reading, { scope, file, trusted }: JudgeOptions): Standing {
  const problem = (
    kind: SettingsProblem["kind"],
    { path, at, message }: { path: Path; at: Position; message: string },
  ): SettingsProblem => ({ kind, scope, file, line: at.line, column: at.column, key: formatPath(path), message });

  switch (reading.kind) {
    case "absent":
      return nothingKnown;
    case "unreadable":
    case "damaged": {
      const at = reading.kind === "damaged" ? reading.position : start;
      const { kind, message } = reading;
      return { ...before, isThere: true, problems: [problem(kind, { path: [], at, message })] };
    }
    case "document": {
      const { values, mistakes } = checkSettings(reading.value, { trusted, before: before.values });
      const repeated = reading.repeated.map((path) => {
        const message = `"${formatPath(path)}" is set more than once. The last one counts.`;
        return problem("repeated_setting", { path, at: reading.getPosition(path), message });
      });
      const wrong = mistakes.map(({ kind, path, message }) =>
        problem(kind, { path, at: reading.getPosition(path), message }),
      );
      const problems = [...wrong, ...repeated].sort((a, b) => a.line - b.line || a.column - b.column);
      return { values, problems, isThere: true };
    }
  }
}

const start: Position = { line: 1, column: 1 };
