/** Parses `models.json`, which describes providers and models in pi's format, with comments and trailing commas. */
import type { FieldProblem, Path } from "../fields/field.ts";
import { toProviderId } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { FileProblem } from "../files/file-problem.ts";
import { formatFieldProblem, formatPath } from "../fields/problem.ts";
import { parseJsonDocument } from "../json/document.ts";
import { createOwnModelsFile, modelsFile, type ProviderConfig } from "./schema.ts";

export interface ModelsFile {
  providers: ReadonlyMap<string, ProviderConfig>;
  problems: FileProblem[];
  /** A problem with the position of this part of the file. */
  describe(path: Path, message: string): FileProblem;
}

/** `damaged`: the file is not JSON, so nothing of it applies. */
type ParsedModels = ({ kind: "read" } & ModelsFile) | { kind: "damaged"; problem: FileProblem };

export async function parseModels(text: string, file: string): Promise<ParsedModels> {
  const parsed = await parseJsonDocument(text);
  if (parsed.kind === "damaged")
    return { kind: "damaged", problem: { file, ...parsed.position, message: parsed.message } };
  const describe = (path: Path, message: string): FileProblem => ({
    file,
    ...parsed.getPosition(path),
    key: formatPath(path),
    message,
  });
  const fieldProblems: FieldProblem[] = parsed.repeated.map((path) => ({
    kind: "other",
    path,
    predicate: "is set more than once. The last one counts.",
  }));
  const { providers = new Map() } =
    modelsFile.read(parsed.value, { path: [], report: (problem) => fieldProblems.push(problem) }) ?? {};
  renameProviders(providers, (problem) => fieldProblems.push(problem));
  const problems = fieldProblems
    .map((problem) => describe(problem.path, formatFieldProblem(problem, { showValues: false })))
    .sort((a, b) => a.line! - b.line! || a.column! - b.column!);
  return { kind: "read", providers, problems, describe };
}

/** Gives providers with a former name their current one. One that is described by both is reported. */
export function renameProviders(providers: Map<string, ProviderConfig>, report: (problem: FieldProblem) => void): void {
  for (const name of [...providers.keys()].filter((each) => toProviderId(each) !== each)) {
    const current = toProviderId(name);
    if (providers.has(current))
      report({
        kind: "other",
        path: ["providers", name],
        predicate: `is an older name of ${current}, which is described too. It is ignored.`,
      });
    else providers.set(current, providers.get(name)!);
    providers.delete(name);
  }
}

export interface ParseProviderOptions {
  /** Whether it sends its requests itself, so that its address can be any text. Default false. */
  hasOwnStream?: boolean;
}

/** Parses a provider as a program describes it. Throws `invalid_input` for the first error. */
export function parseProvider(
  name: string,
  value: unknown,
  { hasOwnStream = false }: ParseProviderOptions = {},
): ProviderConfig {
  const file = hasOwnStream ? createOwnModelsFile() : modelsFile;
  const problems: FieldProblem[] = [];
  const report = (problem: FieldProblem) => void problems.push(problem);
  const config = file.read({ providers: { [name]: value } }, { path: [], report })?.providers?.get(name);
  const wrong = problems.find(({ kind }) => kind !== "unknown_field");
  if (wrong || !config) {
    const reason = wrong ? formatFieldProblem(wrong, { showValues: false }) : "It is not an object.";
    throw new HarnessError("invalid_input", `The provider ${JSON.stringify(name)} cannot be used. ${reason}`);
  }
  return { ...config, ...(config.models && { replacesModels: true }) };
}
