/** Providers as files and extensions describe them: their addresses, keys and headers. */
import { toProviderId } from "@tau/ai/internal";
import { isSecretName } from "@tau/policy/internal";
import type { ModelsKey } from "../auth/key-source.ts";
import type { Path } from "../fields/field.ts";
import type { FileProblem } from "../files/file-problem.ts";
import type { ModelFiles } from "./model-files.ts";
import { parseProvider, type ParseProviderOptions } from "./models-file.ts";
import { isLiteral } from "./overlay.ts";
import type { ProviderConfig } from "./schema.ts";

export class ProviderConfigs {
  readonly #files: ModelFiles | undefined;
  /** The providers of extensions, by name. They apply instead of those of the file. */
  readonly #registered = new Map<string, ProviderConfig>();

  constructor(files: ModelFiles | undefined) {
    this.#files = files;
  }

  get all(): ReadonlyMap<string, ProviderConfig> {
    const written = this.#files?.providers ?? new Map();
    return this.#registered.size === 0 ? written : addRegistered(written, this.#registered);
  }

  get(provider: string): ProviderConfig | undefined {
    return this.all.get(toProviderId(provider));
  }

  /** The base URL of a provider in the files of the user. */
  getWrittenBaseUrl(provider: string): string | undefined {
    return this.#files?.providers.get(toProviderId(provider))?.baseUrl;
  }

  /** Throws `invalid_input` for a wrong description. */
  register(name: string, description: unknown, options?: ParseProviderOptions): void {
    this.#registered.set(toProviderId(name), parseProvider(toProviderId(name), description, options));
  }

  /** False if no such provider is registered. */
  unregister(name: string): boolean {
    return this.#registered.delete(toProviderId(name));
  }

  /** See `ModelRegistry.modelsKey`. */
  getModelsKey(provider: string): ModelsKey | undefined {
    const { apiKey: key, baseUrl: host } = this.get(provider) ?? {};
    if (key === undefined) return undefined;
    const id = toProviderId(provider);
    const isRegistered = this.#registered.get(id)?.apiKey !== undefined;
    const isOfYml = !isRegistered && (this.#files?.hasYmlKey(id) ?? false);
    return {
      key,
      isOwn: true,
      ...(host !== undefined && { host }),
      ...(isRegistered && { place: `the extension that registers ${provider}` }),
      ...(isOfYml && { place: "models.yml" }),
    };
  }

  /** All keys of providers, as written: also those in headers. */
  listWrittenValues(): string[] {
    return [...this.all.values()].flatMap(listWrittenValues);
  }

  /** Describes a problem. A provider of an extension is not in the file of the user. */
  describe(files: ModelFiles, path: Path, message: string): FileProblem {
    const provider = String(path[1]);
    const config = this.all.get(provider);
    const isRegistered = config !== undefined && config === this.#registered.get(provider);
    return isRegistered ? { file: `the provider ${provider} of an extension`, message } : files.describe(path, message);
  }
}

/** A registered provider without models changes what the file says of the provider; one with models takes its place. */
function addRegistered(
  written: ReadonlyMap<string, ProviderConfig>,
  registered: ReadonlyMap<string, ProviderConfig>,
): ReadonlyMap<string, ProviderConfig> {
  const all = new Map(written);
  for (const [name, config] of registered) {
    const before = written.get(name);
    all.set(name, before && !config.models ? { ...before, ...config, path: before.path } : config);
  }
  return all;
}

function listWrittenValues({ apiKey, headers, models = [], modelOverrides }: ProviderConfig): string[] {
  const own = [...models, ...(modelOverrides?.values() ?? [])].map((model) => model.headers);
  const all = [headers, ...own].flatMap((each) => [...(each ?? [])]);
  const secret = all.filter(([name, written]) => !isLiteral(written) || isSecretName(name));
  return [...(apiKey === undefined ? [] : [apiKey]), ...secret.map(([, written]) => written)];
}
