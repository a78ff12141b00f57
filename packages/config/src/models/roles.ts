/** Roles: names for models, such as `smol` for a small one. Decides what `@NAME` stands for. Pure. */
import type { ModelThinkingLevel } from "@tau/ai";
import { splitThinking } from "./resolve.ts";

/** The roles that always exist. One without a model is the default model. */
export const knownRoles = ["default", "smol", "slow", "plan", "commit"] as const;

/** The models of roles by name: `provider/model:thinking`, a part of it that is unique, or `@role`. */
export type RoleModels = Readonly<Record<string, string>>;

/** The settings that name models, and those with keys. */
export interface ModelSettings {
  readonly roles?: RoleModels;
  readonly apiKeys?: Readonly<Record<string, readonly string[]>>;
  readonly defaultModel?: string | undefined;
  readonly defaultProvider?: string | undefined;
}

export interface RoleReference {
  role: string;
  /** The level that is written behind the name, as in `@slow:high`. */
  level: ModelThinkingLevel | undefined;
}

export type RoleTarget =
  /** `name` names the model. `level`, which was written behind a role, is used instead of the level in it. */
  | { kind: "model"; role: string; name: string; level: ModelThinkingLevel | undefined; isDefault: boolean }
  /** Neither the role nor `default` has a model. */
  | { kind: "default_model"; role: string; level: ModelThinkingLevel | undefined }
  | { kind: "unknown_role"; role: string; message: string }
  /** `roles` are those that refer to each other, in their order; the first is also the last. */
  | { kind: "cycle"; role: string; roles: readonly string[]; message: string };

const rolePattern = /^@([\p{L}\p{N}_][\p{L}\p{N}_.-]*)$/u;

/** Whether a text can be the name of a role. The id of a model can begin with `@` too, but then it has a slash. */
export const isRoleName = (name: string): boolean => rolePattern.test(`@${name}`);

/** Parses `@NAME` and `@NAME:level`. Undefined for any other text. */
export function parseRoleReference(text: string): RoleReference | undefined {
  const trimmed = text.trim();
  const split = splitThinking(trimmed);
  const [, role] = rolePattern.exec(split?.head ?? trimmed) ?? [];
  return role === undefined ? undefined : { role, level: split?.level };
}

/** Lists all roles: those that always exist, then the others by name. */
export const listRoleNames = (roles: RoleModels): string[] => [
  ...knownRoles,
  ...Object.keys(roles)
    .filter((name) => !isKnownRole(name))
    .toSorted((a, b) => a.localeCompare(b, "en")),
];

/**
 * Follows a role to the model that it stands for; a role without a model is followed to `default`. A level that is written
 * nearer to the reference wins: `@plan:low` is `low`, whatever the role has.
 */
export function resolveRole(reference: RoleReference, roles: RoleModels): RoleTarget {
  const { role } = reference;
  const path: string[] = [];
  for (let { role: name, level } = reference; ;) {
    if (path.includes(name)) return toCycle(role, [...path.slice(path.indexOf(name)), name]);
    path.push(name);
    const hasEntry = Object.hasOwn(roles, name);
    if (!hasEntry && !isKnownRole(name)) return toUnknown(path, roles);
    const written = hasEntry ? roles[name]!.trim() : "";
    if (written === "" && name === "default") return { kind: "default_model", role, level };
    const next = written === "" ? { role: "default", level: undefined } : parseRoleReference(written);
    if (!next) return { kind: "model", role, name: written, level, isDefault: path.includes("default") };
    name = next.role;
    level ??= next.level;
  }
}

const isKnownRole = (name: string): boolean => (knownRoles as readonly string[]).includes(name);

function toUnknown(path: readonly string[], roles: RoleModels): RoleTarget {
  const role = path.at(-1)!;
  const referrer = path.length > 1 ? `, to which the role ${path.at(-2)} refers` : "";
  const message = `There is no role ${JSON.stringify(role)}${referrer}. The roles are: ${listRoleNames(roles).join(", ")}.`;
  return { kind: "unknown_role", role, message };
}

function toCycle(role: string, roles: readonly string[]): RoleTarget {
  const shown = roles.map((name) => `@${name}`).join(" → ");
  const message = `The role ${role} stands for no model, because roles refer to each other: ${shown}. Give one of them a model.`;
  return { kind: "cycle", role, roles, message };
}

/**
 * The models of all roles. `defaultModel` of the settings is the model of `default` where it names one alone: it is what a
 * person stored last. With a provider beside it, `default` has no entry, since the two cannot be written as one name.
 */
export function mergeRoles(
  fromFile: RoleModels,
  { roles = {}, defaultModel, defaultProvider }: ModelSettings,
): RoleModels {
  const { default: _default, ...others } = { ...fromFile, ...roles };
  if (defaultProvider !== undefined) return others;
  const model = defaultModel ?? _default;
  return model === undefined ? others : { ...others, default: model };
}
