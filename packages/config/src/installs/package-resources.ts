/** The kinds of resources that a package brings to a session. */

export const resourceKinds = ["extensions", "skills", "prompts", "themes", "agents"] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** In the user's own directory, or in that of the project. */
export type PackageScope = "user" | "project";

/** A package that is installed, and those of its resources that the settings do not leave out. All paths are absolute. */
export interface PackageResources {
  /** Stays equal over time: `npm:NAME`, `git:HOST/PATH`, or the real path of a local package. */
  id: string;
  /** The directory of the package; of a local package that is one file, the real path of that file. */
  root: string;
  /** Everything that was fetched, dependencies included. The same as `root` for a local package. */
  directory: string;
  scope: PackageScope;
  /** The source as the settings have it, with an absolute path if it is local. */
  source: string;
  /** Files. */
  extensions: string[];
  /** The `SKILL.md` files of skills, and Markdown files that may be one. */
  skills: string[];
  /** Markdown files. */
  prompts: string[];
  /** JSON files. */
  themes: string[];
  /** Markdown files. */
  agents: string[];
  /** MCP servers by name, as the package has them: unchecked. */
  servers: Readonly<Record<string, unknown>>;
}

/** Why a package in the settings has no effect. The message is whole sentences for the user. */
export interface PackageProblem {
  readonly kind: "not_installed" | "changed" | "invalid" | "empty";
  readonly source: string;
  readonly scope: PackageScope;
  readonly message: string;
}
