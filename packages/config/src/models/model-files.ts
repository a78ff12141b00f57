/** The files of the agent directory that describe models: `models.json` and `models.yml`. */
import { join } from "node:path";
import type { Clock } from "@tau/ai";
import type { FileSystem } from "@tau/tools/platform";
import { formatPath } from "../fields/problem.ts";
import type { Path } from "../fields/field.ts";
import type { FileProblem } from "../files/file-problem.ts";
import { type FileWatch, watchFiles, type WatchOptions } from "../files/watch-files.ts";
import { parseKey } from "../auth/key-value.ts";
import { FileSource } from "./file-source.ts";
import { type ModelsFile, parseModels } from "./models-file.ts";
import { emptyModelsYml, type ModelsYml, type ModelsYmlFile, parseModelsYml } from "./models-yml.ts";
import { listRoleNames, type RoleModels, resolveRole } from "./roles.ts";
import type { ProviderConfig } from "./schema.ts";

interface ModelFilesOptions {
  agentDir: string;
  fileSystem: FileSystem;
  clock: Clock;
  env: (name: string) => string | undefined;
}

export class ModelFiles {
  readonly #json: FileSource<ModelsFile>;
  readonly #yml: FileSource<ModelsYmlFile>;
  readonly #options: ModelFilesOptions;
  #watch: FileWatch | undefined;
  #providers: { json: ModelsFile; yml: ModelsYml; merged: ReadonlyMap<string, ProviderConfig> } | undefined;

  constructor(options: ModelFilesOptions) {
    const { agentDir, fileSystem, clock } = options;
    const describe = (file: string) => (path: Path, message: string) => ({ file, key: formatPath(path), message });
    this.#options = options;
    this.#json = new FileSource({
      path: join(agentDir, "models.json"),
      fileSystem,
      clock,
      parse: parseModels,
      createEmpty: (file): ModelsFile => ({ providers: new Map(), problems: [], describe: describe(file) }),
    });
    this.#yml = new FileSource({
      path: join(agentDir, "models.yml"),
      fileSystem,
      clock,
      parse: parseModelsYml,
      createEmpty: (file): ModelsYmlFile => ({ ...emptyModelsYml, problems: [], describe: describe(file) }),
    });
  }

  /** The path of `models.json`. */
  get path(): string {
    return this.#json.path;
  }

  /** The content of `models.yml`. */
  get yml(): ModelsYml {
    return this.#yml.file;
  }

  /** The providers of both files. A field of `models.json` is used instead of the same one of `models.yml`. */
  get providers(): ReadonlyMap<string, ProviderConfig> {
    const { file: json } = this.#json;
    const { file: yml } = this.#yml;
    if (yml.providers.size === 0) return json.providers;
    if (this.#providers?.json !== json || this.#providers.yml !== yml)
      this.#providers = { json, yml, merged: mergeProviders(json.providers, yml.providers, this.#options.env) };
    return this.#providers.merged;
  }

  /** Whether the key of a provider is that of `models.yml`. */
  hasYmlKey(provider: string): boolean {
    return this.#json.file.providers.get(provider)?.apiKey === undefined && this.#yml.file.providers.has(provider);
  }

  /** Lists the errors in both files. `roles` are all roles: `models.yml` may refer to those of the settings. */
  listProblems(roles: RoleModels): FileProblem[] {
    const { file: yml } = this.#yml;
    const names = listRoleNames(roles);
    const wrongRoles = Object.keys(yml.roles).flatMap((role) => {
      const target = resolveRole({ role, level: undefined }, roles);
      return target.kind === "cycle" || target.kind === "unknown_role"
        ? [yml.describe(["roles", role], target.message)]
        : [];
    });
    const wrongPaths = yml.pathRoles
      .filter(({ role }) => !names.includes(role))
      .map(({ pattern, role }) => {
        const message = `There is no role ${JSON.stringify(role)}. The roles are: ${names.join(", ")}.`;
        return yml.describe(["modelRoles", "paths", pattern], message);
      });
    return [...this.#json.file.problems, ...yml.problems, ...wrongRoles, ...wrongPaths];
  }

  /** A problem with the position of this part of the file that has the provider. */
  describe(path: Path, message: string): FileProblem {
    const provider = String(path[1]);
    const isOfYml = !this.#json.file.providers.has(provider) && this.#yml.file.providers.has(provider);
    return (isOfYml ? this.#yml : this.#json).file.describe(path, message);
  }

  /** Reads both again. Resolves to whether anything changed. Does not reject for damaged or unreadable files. */
  async load(): Promise<boolean> {
    const changes = await Promise.all([this.#json.load(), this.#yml.load()]);
    return changes.includes(true);
  }

  /** Calls `onChange` when a file may have changed, until they are closed. Does not keep the process alive. */
  watch(options: Pick<WatchOptions, "onChange" | "onError">): void {
    this.#watch ??= watchFiles([this.#json.path, this.#yml.path], { clock: this.#options.clock, ...options });
  }

  close(): void {
    this.#watch?.close();
    this.#json.close();
    this.#yml.close();
  }
}

function mergeProviders(
  json: ModelsFile["providers"],
  yml: ModelsYml["providers"],
  env: ModelFilesOptions["env"],
): ReadonlyMap<string, ProviderConfig> {
  const merged = new Map([...yml].map(([name, config]) => [name, withoutUnsetKey(config, env)]));
  for (const [name, config] of json) merged.set(name, { ...merged.get(name), ...config });
  return merged;
}

/** People list all providers in the file and have the variables of some: without its variables there is no key. */
function withoutUnsetKey({ apiKey, ...config }: ProviderConfig, env: ModelFilesOptions["env"]): ProviderConfig {
  if (apiKey === undefined) return config;
  const template = parseKey(apiKey);
  const parts = template.kind === "parts" ? template.parts : [];
  const isUnset = parts.some((part) => part.kind === "variable" && !env(part.name));
  return isUnset ? config : { ...config, apiKey };
}
