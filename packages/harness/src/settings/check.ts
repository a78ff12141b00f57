/** Tells what is right in a file's settings from what is not. Pure. */
import { didYouMean, isRecord } from "@tau/ai";
import { type Fields, type ProjectMaySet, type SettingNode, type SettingsInput, settingsTable } from "./schema.ts";

/** Why something in the settings does not count. */
export type MistakeKind =
  /** There is no such setting. */
  | "unknown_setting"
  | "invalid_value"
  /** It waits until the person trusts the project. */
  | "untrusted";

export interface Mistake {
  readonly kind: MistakeKind;
  readonly path: readonly string[];
  readonly message: string;
}

export interface CheckOptions {
  /** Whether what a project may only set when trusted counts. */
  trusted: boolean;
  /** What this file said when it was last right: a value that is wrong now stays what it was. */
  before?: SettingsInput;
}

export interface Checked {
  readonly values: SettingsInput;
  readonly mistakes: readonly Mistake[];
}

/** Keeps what is right. Nothing of `value` is shared with the outcome. */
export function checkSettings(value: unknown, options: CheckOptions): Checked {
  const mistakes: Mistake[] = [];
  const check = new Check(options.trusted, mistakes);
  const values = check.node(settingsTable, { value, before: options.before, path: [] });
  return { values: (values ?? {}) as SettingsInput, mistakes };
}

/** Names that would reach into the language instead of naming something. */
const isForbidden = (name: string) => name === "__proto__" || name === "constructor" || name === "prototype";

/** An editor's pointer to the schema of the file. */
const schemaPointer = "$schema";

interface CheckContext {
  readonly value: unknown;
  readonly before: unknown;
  readonly path: readonly string[];
}

type Plain = Record<string, unknown>;
/** Undefined where nothing counts. */
class Check {
  readonly #trusted: boolean;
  readonly #mistakes: Mistake[];

  constructor(trusted: boolean, mistakes: Mistake[]) {
    this.#trusted = trusted;
    this.#mistakes = mistakes;
  }

  node(node: SettingNode, place: CheckContext): unknown {
    switch (node.kind) {
      case "group":
        return this.#group(node.fields, place);
      case "map":
        return this.#mayCount(node.project, place) ? this.#map(node.of, place) : undefined;
      case "setting": {
        if (!this.#mayCount(node.project, place)) return undefined;
        const { value } = place;
        if (value === null) return null;
        const { shape } = node;
        if (shape.accepts(value)) return Array.isArray(value) ? [...(value as unknown[])] : value;
        const hint = typeof value === "string" ? didYouMean(value, shape.choices ?? []) : "";
        return this.#invalid(place, shape.expected, hint);
      }
    }
  }

  #group(fields: Fields, place: CheckContext): Plain | undefined {
    const { value, before, path } = place;
    const names = Object.keys(fields);
    // Null for a group is null for each of its settings, so that each is asked who may set it.
    const given = value === null ? Object.fromEntries(names.map((name) => [name, null])) : value;
    if (!isRecord(given)) return this.#invalid(place, "an object: settings in braces") as Plain | undefined;
    const kept: Plain = {};
    for (const [name, inner] of Object.entries(given)) {
      const at = [...path, name];
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field) put(kept, name, this.node(field, { value: inner, before: member(before, name), path: at }));
      else if (path.length > 0 || name !== schemaPointer) {
        const message = `There is no setting ${JSON.stringify(at.join("."))}.${didYouMean(name, names)}`;
        this.#mistakes.push({ kind: "unknown_setting", path: at, message });
      }
    }
    return kept;
  }

  #map(of: SettingNode, place: CheckContext): Plain | null | undefined {
    const { value, before, path } = place;
    if (value === null) return null;
    if (!isRecord(value)) return this.#invalid(place, "an object: values by name, in braces") as Plain | undefined;
    const kept: Plain = {};
    for (const [name, inner] of Object.entries(value)) {
      const at = [...path, name];
      if (isForbidden(name)) {
        const message = `${JSON.stringify(name)} cannot be a name here.`;
        this.#mistakes.push({ kind: "invalid_value", path: at, message });
      } else
        put(
          kept,
          name,
          inner === null ? null : this.node(of, { value: inner, before: member(before, name), path: at }),
        );
    }
    return kept;
  }

  #mayCount(project: ProjectMaySet, { path }: CheckContext): boolean {
    if (this.#trusted || project === "always") return true;
    const name = path.join(".");
    const message = `A project may not set ${name} before it is trusted, so this is ignored. Your own settings can set it.`;
    this.#mistakes.push({ kind: "untrusted", path, message });
    return false;
  }

  #invalid({ value, before, path }: CheckContext, expected: string, hint = ""): unknown {
    const name = path.length === 0 ? "A settings file" : path.join(".");
    const message = `${name} is ${describe(value)}. It has to be ${expected}.${hint}`;
    this.#mistakes.push({ kind: "invalid_value", path, message });
    return before;
  }
}

function put(target: Plain, name: string, value: unknown): void {
  if (value !== undefined) target[name] = value;
}

const member = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const maxEchoLength = 40;

/** Short, since it may be anything. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "string" && value.length > maxEchoLength) return `a text of ${value.length} characters`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
