/** The state of one settings file: its valid settings and its problems. */
import { nearestNames } from "@tau/ai/internal";
import type { Path } from "../fields/field.ts";
import type { FileProblem } from "../files/file-problem.ts";
import { formatPath } from "../fields/problem.ts";
import { type DamagedJson, type JsonDocument, parseJsonDocument, type Position } from "../json/document.ts";
import { checkSettings, type SettingErrorKind } from "./check.ts";
import { findIgnored } from "./pi-settings.ts";
import { mergeInputs } from "./resolve.ts";
import type { SettingsInput, SettingsTable } from "./schema.ts";
import type { SettingsSource } from "./source.ts";

export type SettingsScope = "global" | "project";

/** An error in the settings. Everything else in them applies. */
export interface SettingsProblem extends Required<FileProblem> {
  readonly kind: SettingErrorKind | "damaged" | "unreadable" | "repeated_setting" | "unwatched" | "listener_failed";
  readonly scope: SettingsScope;
}

export interface FileState {
  /** A setting that is wrong now has its last valid value. */
  readonly values: SettingsInput;
  readonly problems: readonly SettingsProblem[];
  /** Settings of pi in it that have no effect here. */
  readonly ignored: readonly string[];
  readonly exists: boolean;
}

export const noFile: FileState = { values: {}, problems: [], ignored: [], exists: false };

export type FileContent =
  | JsonDocument
  | DamagedJson
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly message: string };

export async function readSource(source: SettingsSource): Promise<FileContent> {
  const read = await source.read();
  return read.kind === "text" ? await parseJsonDocument(read.text) : read;
}

interface UpdateOptions {
  table: SettingsTable;
  readonly scope: SettingsScope;
  readonly file: string;
  readonly trusted: boolean;
}

/** Whether the content may be that of a file that an editor is just saving. */
export const mayBeIncomplete = (before: FileState, content: FileContent): boolean =>
  content.kind === "damaged" || content.kind === "unreadable" || (content.kind === "absent" && before.exists);

/**
 * The state after the file was read. A file that cannot be read or parsed keeps its last valid settings, and a group of
 * restrictions with an error keeps what it had. Of a project that is not trusted, nothing applies while there is an error in
 * it: anybody may have written it, and it must not keep tau from starting either. Pure.
 */
export function updateState(before: FileState, content: FileContent, options: UpdateOptions): FileState {
  const state = readState(before, content, options);
  const isStranger = options.scope === "project" && !options.trusted;
  return isStranger && state.problems.some(isError) ? ignoreSettings(state) : state;
}

/** Settings that only need trust are left out one by one. */
const isError = ({ kind }: SettingsProblem): boolean => kind !== "untrusted";

function ignoreSettings(state: FileState): FileState {
  const first = state.problems.findIndex(isError);
  const note = "The project is not trusted, so none of its settings count until this is corrected.";
  const problems = state.problems.map((problem, index) =>
    index === first ? { ...problem, message: `${problem.message} ${note}` } : problem,
  );
  return { ...state, values: {}, problems };
}

function readState(before: FileState, content: FileContent, { scope, file, table, trusted }: UpdateOptions): FileState {
  const problem = (
    kind: SettingsProblem["kind"],
    { path, position, message }: { path: Path; position: Position; message: string },
  ): SettingsProblem => ({ kind, scope, file, ...position, key: formatPath(path), message });

  switch (content.kind) {
    case "absent":
      return noFile;
    case "unreadable":
    case "damaged": {
      const position = content.kind === "damaged" ? content.position : start;
      const { kind, message } = content;
      return { ...before, exists: true, problems: [problem(kind, { path: [], position, message })] };
    }
    case "document": {
      const isProject = scope === "project";
      const { values, errors } = checkSettings(content.value, { trusted, isProject, table, before: before.values });
      const repeated = content.repeated.map((path) => {
        const message = `"${formatPath(path)}" is set more than once. The last one counts.`;
        return problem("repeated_setting", { path, position: content.getPosition(path), message });
      });
      const wrong = errors.map(({ kind, path, message }) =>
        problem(kind, { path, position: content.getPosition(path), message }),
      );
      const problems = [...wrong, ...repeated].sort((a, b) => a.line - b.line || a.column - b.column);
      const kept = trusted ? keepRestrictions(before.values, problems) : {};
      return {
        values: mergeInputs(values, kept) as SettingsInput,
        problems,
        ignored: findIgnored(content.value),
        exists: true,
      };
    }
  }
}

/** Settings from before, where one that restricts may only have got a wrong name, or is set twice. */
function keepRestrictions(before: SettingsInput, problems: readonly SettingsProblem[]): SettingsInput {
  const groups = new Set(problems.filter(mayLoosen).flatMap(({ key }) => findRestricting(key)));
  return Object.fromEntries(Object.entries(before).filter(([name]) => groups.has(name)));
}

/** Settings that restrict what a session may do. */
const restricting: readonly string[] = [
  "approvals",
  "auth",
  "budgets",
  "defaultProjectTrust",
  "images",
  "limits",
  "policy",
  "sandbox",
  "tools",
];
/** A hook may be a guard. In a program without the feature its settings are unknown as a whole, and restrict nothing. */
const restrictingOfFeatures: readonly string[] = ["hooks"];
const restrictingErrors: readonly SettingsProblem["kind"][] = ["invalid_value", "unknown_setting", "repeated_setting"];

/** Whether a restriction could be missing: of a file that cannot be read, nobody knows what it restricts. Pure. */
export function mayLoosen({ kind, key }: SettingsProblem): boolean {
  if (kind === "damaged" || kind === "unreadable") return true;
  const isOfAbsentFeature = kind === "unknown_setting" && restrictingOfFeatures.includes(key);
  return restrictingErrors.includes(kind) && !isOfAbsentFeature && findRestricting(key).length > 0;
}

/** The groups of restrictions that a key may belong to. A name with one wrong letter is meant as the right one. */
function findRestricting(key: string): string[] {
  const group = key.split(".")[0]!;
  return restrictingOfFeatures.includes(group) ? [group] : nearestNames(group, restricting, 1);
}

const start: Position = { line: 1, column: 1 };
