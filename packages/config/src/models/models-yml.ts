/** Parses `models.yml`, which gives roles their models, in oh-my-pi's format. */
import { isRecord } from "@tau/ai/internal";
import type { Field, FieldProblem, Path } from "../fields/field.ts";
import { list, map, nonEmptyText, object, optional, transform } from "../fields/kinds.ts";
import { formatFieldProblem, formatPath } from "../fields/problem.ts";
import type { FileProblem } from "../files/file-problem.ts";
import { parseGlob, ToolsError } from "@tau/tools/platform";
import { parseYaml, type YamlRoot } from "../resources/yaml.ts";
import type { FallbackChains } from "./fallbacks.ts";
import { renameProviders } from "./models-file.ts";
import { isRoleName, type RoleModels } from "./roles.ts";
import { modelsFile, type ProviderConfig } from "./schema.ts";

/** The content of `models.yml`. Names of models and keys are as written: nothing is resolved. */
export interface ModelsYml {
  /** Providers as `models.json` describes them. `api_key` is their `apiKey`: a literal, `$NAME`, `${NAME}` or `!command`. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** `roles.*.model`. */
  readonly roles: RoleModels;
  /** `modelRoles.paths`, in the order of the file. */
  readonly pathRoles: readonly PathRole[];
  /** `retry.fallbackChains`. Undefined if the file has none. */
  readonly fallbackChains: FallbackChains | undefined;
  /** `apiKeys`: several keys of a provider, in the order of the file. Each is written as in `models.json`. */
  readonly apiKeys: ReadonlyMap<string, readonly string[]>;
}

/** The role for files that match a glob. */
export interface PathRole {
  readonly pattern: string;
  readonly role: string;
}

export interface ModelsYmlFile extends ModelsYml {
  problems: FileProblem[];
  /** A problem with the position of this part of the file. */
  describe(path: Path, message: string): FileProblem;
}

type ParsedModelsYml = ({ kind: "read" } & ModelsYmlFile) | { kind: "damaged"; problem: FileProblem };

export const emptyModelsYml: ModelsYml = {
  providers: new Map(),
  roles: {},
  pathRoles: [],
  fallbackChains: undefined,
  apiKeys: new Map(),
};

/** `damaged`: the file is not YAML, so nothing of it applies. */
export async function parseModelsYml(text: string, file: string): Promise<ParsedModelsYml> {
  const parsed = await parseYaml(file, text.replace(/^\uFEFF/, ""));
  if (parsed.kind === "invalid") {
    const { line, message } = parsed.problem;
    return { kind: "damaged", problem: { file, ...(line !== undefined && { line }), message } };
  }
  const { root } = parsed;
  const describe = (path: Path, message: string): FileProblem => {
    const line = findLine(root, path);
    return { file, ...(line !== undefined && { line }), key: formatPath(path), message };
  };
  const problems: FieldProblem[] = [];
  const report = (problem: FieldProblem) => void problems.push(problem);
  const content = root.kind === "empty" ? emptyModelsYml : readContent(toPlain(root), report);
  return {
    kind: "read",
    ...content,
    describe,
    problems: problems
      .map((problem) => describe(problem.path, formatFieldProblem(problem, words)))
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

/** A wrong value may be a key. */
const words = { whole: "The file", showValues: false };

/** An object with one field, which can also be written as its value alone. */
const withShorthand = (field: Field<string>, name: string): Field<string> => {
  const whole = transform(object({ [name]: field }), (values) => values[name]!);
  return { ...whole, read: (value, context) => (typeof value === "string" ? field : whole).read(value, context) };
};

const roleName: Field<string> = transform(nonEmptyText, (name) => name.trim().replace(/^@/, ""));

const models: Field<string[]> = list(nonEmptyText);

const fallbackChains: Field<FallbackChains> = {
  type: "string[][] | Record<string, string[]>",
  schema: {},
  read: (value, context) => {
    if (Array.isArray(value)) return list(models).read(value, context);
    const byName = map(models).read(value, context);
    return byName && Object.fromEntries(byName);
  },
};

const refuseRole = (name: string) => (isRoleName(name) ? undefined : "cannot be the name of a role.");

const refuseGlob = (pattern: string) => {
  try {
    parseGlob(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolsError)) throw error;
    return "cannot be used as a glob.";
  }
};

const modelsYml = object(
  {
    roles: optional(map(withShorthand(nonEmptyText, "model"), { refuseName: refuseRole })),
    modelRoles: optional(object({ paths: optional(map(withShorthand(roleName, "role"), { refuseName: refuseGlob })) })),
    retry: optional(object({ fallbackChains: optional(fallbackChains) })),
    apiKeys: optional(map(models)),
  },
  // It is read with the fields of `models.json`.
  { unused: { providers: "" } },
);

function readContent(value: unknown, report: (problem: FieldProblem) => void): ModelsYml {
  const content = modelsYml.read(value, { path: [], report });
  if (!content) return emptyModelsYml;
  return {
    providers: readProviders(value, report),
    roles: Object.fromEntries(content.roles ?? []),
    pathRoles: [...(content.modelRoles?.paths ?? [])].map(([pattern, role]) => ({ pattern, role })),
    fallbackChains: content.retry?.fallbackChains,
    apiKeys: content.apiKeys ?? new Map(),
  };
}

/** Reads the providers with the fields of `models.json`. `api_key` is another name of `apiKey`. */
function readProviders(value: unknown, report: (problem: FieldProblem) => void): ReadonlyMap<string, ProviderConfig> {
  const written = isRecord(value) ? value["providers"] : undefined;
  if (written === undefined || written === null) return new Map();
  const renamed = isRecord(written)
    ? Object.fromEntries(Object.entries(written).map(([name, provider]) => [name, renameKey(provider)]))
    : written;
  const { providers = new Map<string, ProviderConfig>() } =
    modelsFile.read({ providers: renamed }, { path: [], report }) ?? {};
  renameProviders(providers, report);
  return providers;
}

function renameKey(provider: unknown): unknown {
  if (!isRecord(provider) || !Object.hasOwn(provider, "api_key")) return provider;
  const { api_key: apiKey, ...others } = provider;
  return { apiKey, ...others };
}

const toPlain = (root: YamlRoot): unknown => {
  switch (root.kind) {
    case "map":
      return Object.fromEntries([...root.entries].map(([name, { value }]) => [name, value]));
    case "list":
      return root.items.map(({ value }) => value);
    case "empty":
      return null;
    case "scalar":
      return root.value;
  }
};

/** The line of the deepest part of the path that the file has. */
function findLine(root: YamlRoot, path: Path): number | undefined {
  let line: number | undefined;
  let current = root;
  for (const step of path) {
    const entry = getEntry(current, step) ?? (step === "apiKey" ? getEntry(current, "api_key") : undefined);
    if (!entry) break;
    line = entry.line;
    current = entry.below();
  }
  return line ?? 1;
}

function getEntry(root: YamlRoot, step: string | number) {
  if (root.kind === "map") return root.entries.get(String(step));
  return root.kind === "list" ? root.items[Number(step)] : undefined;
}
