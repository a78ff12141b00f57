/** Resources that were found, with where they come from and whether they are used. */
export const resourceKinds = ["extensions", "skills", "prompts", "themes"] as const;
export type ResourceKind = (typeof resourceKinds)[number];

type Scope = "user" | "project" | "temporary";

export interface PathMetadata {
  source: string;
  scope: Scope;
  origin: "package" | "top-level";
  baseDir?: string;
}

export interface ResolvedResource {
  path: string;
  enabled: boolean;
  metadata: PathMetadata;
}

export type ResolvedPaths = Record<ResourceKind, ResolvedResource[]>;

/** A path is taken where it is first found. */
export class PathCollector {
  readonly #found: Record<ResourceKind, Map<string, ResolvedResource>> = {
    extensions: new Map(),
    skills: new Map(),
    prompts: new Map(),
    themes: new Map(),
  };

  add(kind: ResourceKind, resource: ResolvedResource): void {
    if (!this.#found[kind].has(resource.path)) this.#found[kind].set(resource.path, resource);
  }

  getPaths(): ResolvedPaths {
    const list = (kind: ResourceKind) => [...this.#found[kind].values()];
    return { extensions: list("extensions"), skills: list("skills"), prompts: list("prompts"), themes: list("themes") };
  }
}
