/** The nodes of a table of settings. */
import type { Shape } from "./shape.ts";

/**
 * When a project may set it. A setting that executes something, sends data or money elsewhere, or loosens a decision of
 * the user applies only after the user trusts the project. What is about trust or credentials is the user's alone.
 * `to restrict`: a trusted project may set it, and its reader combines it with the user's so that nothing gets looser. Such
 * a setting is not in the merged settings, but only in those of the project.
 */
type ProjectMaySet = "always" | "when trusted" | "to restrict" | "never";

/** A setting. If the default is undefined, the value may be undefined. */
export interface Setting<T, D extends T | undefined = T | undefined> {
  readonly kind: "setting";
  readonly shape: Shape<T>;
  readonly default: D;
  readonly description: string;
  readonly project: ProjectMaySet;
}

export interface Group<F extends Fields> extends GroupForms {
  readonly kind: "group";
  readonly description: string;
  readonly fields: F;
}

/** Other forms in which a group may be written. */
interface GroupForms {
  /** The setting that a text in the place of the object stands for. */
  readonly shorthand?: string;
  /** Whether the names of its settings may be in snake_case. Default false. */
  readonly acceptsSnakeCase?: boolean;
}

/** Values by names that are not known in advance. Empty by default. */
export interface MapOf<E extends Setting<unknown> | Group<Fields>> {
  readonly kind: "map";
  readonly description: string;
  /** Says what the names are; completes "by …". */
  readonly by: string;
  readonly of: E;
  readonly project: ProjectMaySet;
}

/** Names that a map may not have: they would reach into the language when objects are merged. */
export const forbiddenNames: readonly string[] = ["__proto__", "constructor", "prototype"];

export interface Fields {
  readonly [name: string]: SettingNode;
}

export type SettingNode = Setting<unknown> | Group<Fields> | MapOf<Setting<unknown> | Group<Fields>>;

interface SettingOptions<D> {
  default: D;
  description: string;
  /** Default `always`. */
  project?: ProjectMaySet;
}

export const setting = <T, const D extends T | undefined>(
  shape: Shape<T>,
  options: SettingOptions<D>,
): Setting<T, D> => ({
  kind: "setting",
  shape,
  project: "always",
  ...options,
});

export const group = <F extends Fields>(description: string, fields: F, forms: GroupForms = {}): Group<F> => ({
  kind: "group",
  description,
  fields,
  ...forms,
});

export const mapSetting = <E extends Setting<unknown> | Group<Fields>>(
  of: E,
  options: { description: string; by: string; project?: ProjectMaySet },
): MapOf<E> => ({ kind: "map", of, project: "always", ...options });
