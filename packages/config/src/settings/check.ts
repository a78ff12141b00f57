/** Separates the valid settings of a file from its errors. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { Field, FieldProblem, Path } from "../fields/field.ts";
import { map, object, optional, transform } from "../fields/kinds.ts";
import { formatFieldProblem, formatPath } from "../fields/problem.ts";
import { renameSnakeCase } from "@tau/policy/internal";
import { listUnused } from "./pi-settings.ts";
import { type Fields, forbiddenNames, type Group, type SettingNode } from "./node.ts";
import { type SettingsInput, type SettingsTable, settingsTable } from "./schema.ts";

/** Why something in the settings does not apply. */
export type SettingErrorKind =
  /** There is no such setting. */
  | "unknown_setting"
  | "invalid_value"
  /** It is ignored until the user trusts the project. */
  | "untrusted"
  /** A project's file has it, and it applies in the user's own file only. */
  | "not_for_projects";

interface SettingError {
  readonly kind: SettingErrorKind;
  readonly path: Path;
  readonly message: string;
}

export interface CheckOptions {
  /** Whether settings apply that a project may set only when it is trusted. */
  trusted: boolean;
  /** Whether they are those of a project. Default false. */
  isProject?: boolean;
  /** Default: tau's own settings. */
  table?: SettingsTable;
  /** The last valid values of this file: a setting that is wrong now keeps its value. */
  before?: SettingsInput;
}

interface Checked {
  readonly values: SettingsInput;
  readonly errors: readonly SettingError[];
}

/** The result shares nothing with `value`. */
export function checkSettings(value: unknown, options: CheckOptions): Checked {
  const errors: SettingError[] = [];
  const check: Check = { ...options, report: (error) => errors.push(error) };
  const report = (problem: FieldProblem) => check.report(toSettingError(problem));
  const values = toField(options.table ?? settingsTable, check).read(value, { path: [], report });
  return { values: (values ?? {}) as SettingsInput, errors };
}

interface Check extends CheckOptions {
  report(error: SettingError): void;
}

/** The field that accepts the values of `node` under these options. Null stands for the default everywhere. */
function toField(node: SettingNode, check: Check): Field<unknown> {
  switch (node.kind) {
    case "group":
      return toGroup(node, check);
    case "map":
      return guarded(node, check, toMap(node.of, check));
    case "setting":
      return guarded(node, check, whole(node.shape));
  }
}

function toGroup(node: Group<Fields>, check: Check): Field<unknown> {
  const { fields } = node;
  const names = Object.keys(fields);
  const inner = names.map((name) => [name, { ...optional(toField(fields[name]!, check)), nullable: true }] as const);
  const group = (path: Path) => object(Object.fromEntries(inner), { unused: listUnused(path) });
  return {
    ...group([]),
    read(value, context) {
      // Null for a group is null for each of its settings, so that each is checked for trust.
      const values = value === null ? Object.fromEntries(names.map((name) => [name, null])) : toObject(value, node);
      return group(context.path).read(values, context) ?? getAt(check.before, context.path);
    },
  };
}

/** A group as an object with the names of its settings, in whatever form it was written. */
function toObject(value: unknown, { fields, shorthand, acceptsSnakeCase = false }: Group<Fields>): unknown {
  if (shorthand !== undefined && typeof value === "string") return { [shorthand]: value };
  return acceptsSnakeCase ? renameSnakeCase(value, Object.keys(fields)) : value;
}

function toMap(of: SettingNode, check: Check): Field<unknown> {
  const entry = toField(of, check);
  const entryOrNull: Field<unknown> = {
    ...entry,
    read: (value, context) => (value === null ? null : entry.read(value, context)),
  };
  const refuseName = (name: string) =>
    forbiddenNames.includes(name) ? "has a name that is not allowed. Choose another." : undefined;
  return transform(map(entryOrNull, { refuseName }), (values) => Object.fromEntries(values));
}

/** A setting with an error anywhere in it does not apply at all. */
const whole = <T>(field: Field<T>): Field<T> => ({
  ...field,
  read(value, { path, report }) {
    let isRight = true;
    const reportWrong = (problem: FieldProblem) => {
      isRight = false;
      report(problem);
    };
    const read = field.read(value, { path, report: reportWrong });
    return isRight ? read : undefined;
  },
});

/** A setting or map that may wait for trust, may be null, and keeps its last valid value. */
function guarded(
  { project }: Extract<SettingNode, { kind: "setting" | "map" }>,
  check: Check,
  field: Field<unknown>,
): Field<unknown> {
  return {
    ...field,
    read(value, context) {
      const { path } = context;
      if (check.isProject && project === "never") {
        const message = `A project may not set ${formatPath(path)}, so this is ignored. Set it in your own settings.`;
        check.report({ kind: "not_for_projects", path, message });
        return undefined;
      }
      if (!check.trusted && project !== "always") {
        const message = `A project may not set ${formatPath(path)} before it is trusted, so this is ignored. Set it in your own settings, or trust the project: tau trust`;
        check.report({ kind: "untrusted", path, message });
        return undefined;
      }
      return value === null ? null : (field.read(value, context) ?? getAt(check.before, path));
    },
  };
}

function toSettingError(problem: FieldProblem): SettingError {
  const message = formatFieldProblem(problem, { whole: "A settings file", field: "setting" });
  const kind = problem.kind === "unknown_field" ? "unknown_setting" : "invalid_value";
  return { kind, path: problem.path, message };
}

const getAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isRecord(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
