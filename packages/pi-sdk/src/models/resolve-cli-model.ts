/** Finds models that were named on a command line, in pi's form. */
import type { ThinkingLevel } from "@tau/agent";
import { type Model, parseThinkingLevel } from "@tau/ai";
import { resolveModel, scopeModels } from "@tau/config/models";
import type { ScopedModel } from "../agent-session/types.ts";
import type { ModelRuntime } from "./model-runtime.ts";

export interface ResolveCliModelResult {
  model: Model | undefined;
  thinkingLevel?: ThinkingLevel;
  warning: string | undefined;
  /** Says why there is no model. */
  error: string | undefined;
}

interface ResolveCliModelOptions {
  cliProvider?: string;
  cliModel?: string;
  cliThinking?: ThinkingLevel;
  /** Whether a key was given for the provider. */
  inlineApiKey?: boolean;
  modelRuntime: ModelRuntime;
}

/** Neither a model nor an error if no model was named. */
export function resolveCliModel(options: ResolveCliModelOptions): ResolveCliModelResult {
  const { cliProvider, cliModel, cliThinking, modelRuntime } = options;
  if (cliModel === undefined) return { model: undefined, warning: undefined, error: undefined };
  const models = modelRuntime.getModels(cliProvider);
  if (models.length === 0) {
    return fail(
      cliProvider === undefined ? "There are no models." : `There is no provider ${JSON.stringify(cliProvider)}.`,
    );
  }
  const prefix = `${cliProvider}/`;
  const text = cliProvider !== undefined && cliModel.startsWith(prefix) ? cliModel.slice(prefix.length) : cliModel;
  const resolution = resolveModel(text, models, { hasKey: (provider) => modelRuntime.hasConfiguredAuth(provider) });
  if (resolution.kind !== "resolved") return fail(resolution.message);
  const { model, thinkingLevel } = resolution;
  const level = cliThinking ?? toThinkingLevel(thinkingLevel);
  return { model, ...(level !== undefined && { thinkingLevel: level }), warning: undefined, error: undefined };
}

const fail = (error: string): ResolveCliModelResult => ({ model: undefined, warning: undefined, error });

interface ModelScopeDiagnostic {
  type: "warning";
  code: "no-match" | "ambiguous";
  message: string;
  pattern: string;
}

export interface ResolveModelScopeResult {
  scopedModels: ScopedModel[];
  diagnostics: ModelScopeDiagnostic[];
}

/** The models with a key that match the patterns. */
export async function resolveModelScopeWithDiagnostics(
  patterns: string[],
  modelRuntime: ModelRuntime,
): Promise<ResolveModelScopeResult> {
  const { models, problems } = scopeModels(patterns, await modelRuntime.getAvailable(), {});
  return {
    scopedModels: models.map(({ model, thinkingLevel }) => {
      const level = toThinkingLevel(thinkingLevel);
      return { model, ...(level !== undefined && { thinkingLevel: level }) };
    }),
    diagnostics: problems.map(({ pattern, kind, message }) => ({
      type: "warning",
      code: kind === "ambiguous" ? "ambiguous" : "no-match",
      message,
      pattern,
    })),
  };
}

const toThinkingLevel = (level: string | undefined): ThinkingLevel | undefined =>
  level === undefined ? undefined : (parseThinkingLevel(level) as ThinkingLevel | undefined);
