/**
 * Which of several registrations of one name applies. Tools and flags: the first. Commands: all, with a number. Shortcuts: the
 * last, also instead of a built-in one, unless that is reserved. Pure; every registration that does not apply is a problem.
 */
import type { CommandDefinition, FlagDefinition, ShortcutDefinition, ToolDefinition } from "../api/api.ts";
import type { Extension, ExtensionProblem } from "../api/extension.ts";

/** A registration and the extension that it belongs to. */
export interface Owned<T> {
  readonly extension: Extension;
  readonly definition: T;
}

export interface BuiltIns {
  /** Names of commands. */
  readonly commands: readonly string[];
  /** The action of each key, such as `app.interrupt`. */
  readonly keys: ReadonlyMap<string, string>;
}

export interface ResolvedRegistrations {
  /** A tool with the name of a built-in one replaces it. */
  readonly tools: ReadonlyMap<string, Owned<ToolDefinition>>;
  readonly flags: ReadonlyMap<string, Owned<FlagDefinition>>;
  /** By what the user types: `name`, or `name:1` where several extensions have it. */
  readonly commands: ReadonlyMap<string, Owned<CommandDefinition>>;
  /** By key, see `normaliseKey`. */
  readonly shortcuts: ReadonlyMap<string, Owned<ShortcutDefinition>>;
  readonly problems: readonly ExtensionProblem[];
}

type Entry<T> = Owned<T> & { readonly name: string };
type Report = (extension: Extension, message: string) => void;

export function resolveConflicts(extensions: readonly Extension[], builtIns: BuiltIns): ResolvedRegistrations {
  const problems: ExtensionProblem[] = [];
  const report: Report = ({ source }, message) => void problems.push({ extension: source.name, message });
  const list = <T>(pick: (extension: Extension) => ReadonlyMap<string, T>): Entry<T>[] =>
    extensions.flatMap((extension) =>
      [...pick(extension)].map(([name, definition]) => ({ name, extension, definition })),
    );
  return {
    tools: takeFirst(
      list(({ tools }) => tools),
      { what: "tool", report },
    ),
    flags: takeFirst(
      list(({ flags }) => flags),
      { what: "flag", report },
    ),
    commands: keepAll(
      list(({ commands }) => commands),
      { builtIn: builtIns.commands, report },
    ),
    shortcuts: takeLast(
      list(({ shortcuts }) => shortcuts),
      { builtIn: builtIns.keys, report },
    ),
    problems,
  };
}

/**
 * Adds the commands, flags and shortcuts of features whose names are free. Tools of features are not among them: a session has
 * these before their code is loaded.
 */
export function addFeatures(
  resolved: ResolvedRegistrations,
  features: readonly Extension[],
  isTemplate: (name: string) => boolean,
): ResolvedRegistrations {
  if (features.length === 0) return resolved;
  const withFree = <T>(
    taken: ReadonlyMap<string, Owned<T>>,
    pick: (extension: Extension) => ReadonlyMap<string, T>,
  ) => {
    const own = features.flatMap((extension) =>
      [...pick(extension)].map(([name, definition]) => [name, { extension, definition }] as const),
    );
    return new Map([...own, ...taken]);
  };
  return {
    ...resolved,
    flags: withFree(resolved.flags, ({ flags }) => flags),
    commands: withFree(resolved.commands, ({ commands }) => {
      return new Map([...commands].filter(([name]) => !isTemplate(name)));
    }),
    shortcuts: withFree(resolved.shortcuts, ({ shortcuts }) => shortcuts),
  };
}

function takeFirst<T>(entries: readonly Entry<T>[], { what, report }: { what: string; report: Report }) {
  const first = new Map<string, Owned<T>>();
  for (const { name, extension, definition } of entries) {
    const owner = first.get(name)?.extension;
    if (owner) report(extension, `Its ${what} ${name} is not used: ${owner.source.name} has one of that name.`);
    else first.set(name, { extension, definition });
  }
  return first;
}

function keepAll<T>(entries: readonly Entry<T>[], { builtIn, report }: { builtIn: readonly string[]; report: Report }) {
  const all = new Map<string, Owned<T>>();
  const counts = new Map<string, number>();
  // An extension has each name once.
  const owners = new Map<string, number>();
  for (const { name } of entries) owners.set(name, (owners.get(name) ?? 0) + 1);
  for (const { name, extension, definition } of entries) {
    if (builtIn.includes(name)) {
      report(extension, `Its command /${name} is not used: tau has one of that name.`);
      continue;
    }
    const isAlone = owners.get(name) === 1;
    let number = (counts.get(name) ?? 0) + 1;
    // A command may itself be called so.
    while (owners.has(`${name}:${number}`)) number++;
    counts.set(name, number);
    const typed = isAlone ? name : `${name}:${number}`;
    if (!isAlone)
      report(extension, `Its command /${name} is called /${typed}: another extension has one of that name.`);
    all.set(typed, { extension, definition });
  }
  return all;
}

function takeLast<T>(
  entries: readonly Entry<T>[],
  { builtIn, report }: { builtIn: ReadonlyMap<string, string>; report: Report },
) {
  const last = new Map<string, Owned<T>>();
  const actions = new Map([...builtIn].map(([key, action]) => [normaliseKey(key), action]));
  for (const { name, extension, definition } of entries) {
    const key = normaliseKey(name);
    const action = actions.get(key);
    if (action !== undefined && isReservedAction(action)) {
      report(extension, `Its shortcut ${name} is not used: the key belongs to ${action}.`);
      continue;
    }
    const before = last.get(key)?.extension;
    if (before) report(before, `Its shortcut ${name} is not used: ${extension.source.name} has the same key.`);
    else if (action !== undefined) report(extension, `Its shortcut ${name} takes the key of ${action}.`);
    last.set(key, { extension, definition });
  }
  return last;
}

/** Actions whose keys a user must be able to rely on. */
const reservedActions =
  /^(?:app\.(?:interrupt|clear|exit|suspend|thinking\.(?:cycle|toggle)|model\..+|tools\.expand|editor\.external|message\.(?:copy|followUp))|tui\.\w+\.(?:submit|confirm|cancel|copy|deleteToLineEnd))$/;

export const isReservedAction = (action: string): boolean => reservedActions.test(action);

/** Other names that terminals know for a key. */
const otherNames = new Map([
  ["esc", "escape"],
  ["return", "enter"],
]);

/**
 * Returns equal text for equal keys, however the modifiers are ordered and named: `Shift+Ctrl+Return` is `ctrl+shift+enter`.
 */
export function normaliseKey(key: string): string {
  const [, modifiers = "", last = ""] = /^((?:[^+]+\+)*)(.+)$/.exec(key.toLowerCase().trim()) ?? [];
  const unique = new Set(modifiers.split("+").filter(Boolean).sort());
  return [...unique, otherNames.get(last) ?? last].join("+");
}
