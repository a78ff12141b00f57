/** Which model a session begins with. */
import type { ThinkingLevel } from "@tau/agent";
import {
  clampThinkingLevel,
  getSupportedThinkingLevels,
  type Model,
  modelsAreEqual,
  parseThinkingLevel,
} from "@tau/ai";
import { toProviderId, withoutUndefined } from "@tau/ai/internal";
import { formatUnlisted, type FirstModel } from "../agent-session/model-choice.ts";
import { resolveAgentModel } from "../agent-session/session-agent.ts";
import type { AgentSessionParams } from "./params.ts";
import { HarnessError } from "@tau/protocol";
import type { ExtensionProblem } from "@tau/extensions";
import type { DefaultModel, ModelRegistry, ModelResolution, ScopedModel } from "@tau/config/models";
import { formatFileProblem } from "@tau/config/settings";
import type { SessionSetup } from "./session-setup.ts";

interface ChosenModel extends FirstModel {
  /** Why it is another model than the session used before. */
  modelNotice: string | undefined;
}

/**
 * Takes what is asked for, else what the session used, else that of its agent, else one of the models to choose from, else what
 * the settings say or what can be used. `extensionProblems` may be why an extension did not bring its models.
 */
export async function chooseModel(
  { params, services, sessionManager }: SessionSetup,
  extensionProblems: readonly ExtensionProblem[] = [],
): Promise<ChosenModel> {
  const { registry, settings } = services;
  const { defaultModel, defaultProvider, defaultThinkingLevel, modelThinkingLevels } = settings.get();
  const isNew = sessionManager.getEntryCount() === 0;
  const before = isNew ? undefined : await sessionManager.getChoices();
  const asked = parseLevel(params.thinkingLevel);
  const spec = params.model ?? (params.provider === undefined || isOf(before?.model, params.provider) ? undefined : "");
  const problems = formatProblems(registry, extensionProblems);
  const named =
    typeof spec === "string" ? resolveSpec(registry, spec, { provider: params.provider, problems }) : undefined;
  const find = (name: { provider: string; modelId: string } | undefined) =>
    name && registry.find(name.provider, name.modelId);
  // A virtual model may not be registered any more. Then the session continues with the model that answered.
  const used = before?.model ? (find(before.model) ?? find(before.model.answeredBy)) : undefined;
  const usual = () => registry.defaultModel(withoutUndefined({ defaultModel, defaultProvider }));
  // A role without a model is what the session has otherwise.
  const wanted = typeof params.model === "object" ? params.model : named?.isDefault ? undefined : named?.model;
  const ofAgent = resolveAgentModel(registry, services.resources.resources.agent);
  const first = wanted ?? used ?? ofAgent.model;
  const fallback = first ? undefined : usual();
  const patterns = params.models ?? settings.get().enabledModels;
  const scoped = fallback && patterns && chooseScoped(registry.scope(patterns).models, fallback);
  // If the user chose a model, never fall back to another.
  const isChosen =
    defaultModel !== undefined || defaultProvider !== undefined || registry.getRoles()["default"] !== undefined;
  const isRefused = fallback?.kind === "resolved" && isChosen && fallback.because !== "settings";
  const usable = fallback?.kind === "resolved" && !isRefused ? fallback.model : undefined;
  const model = first ?? scoped?.model ?? usable;
  const otherRole = model && model === used ? before?.model?.role : model === ofAgent.model ? ofAgent.role : undefined;
  const usedLevel = before?.hasThinkingLevel ? parseThinkingLevel(before.thinkingLevel) : undefined;
  const noModelReason = isRefused
    ? formatRefusal(fallback.reason, problems)
    : fallback?.kind === "none"
      ? fallback.message
      : "";
  return {
    model,
    role: named ? named.role : otherRole,
    thinkingLevel:
      asked ??
      named?.thinkingLevel ??
      (isNew ? ofAgent.thinkingLevel : undefined) ??
      scoped?.thinkingLevel ??
      usedLevel ??
      (fallback?.kind === "resolved" ? fallback.thinkingLevel : undefined) ??
      (model && modelThinkingLevels[`${model.provider}/${model.id}`]) ??
      defaultThinkingLevel,
    noModelReason,
    modelProblem: isChosen && !model ? noModelReason : undefined,
    modelNotice:
      [
        lostModel(before?.model, model),
        ofAgent.problem,
        model && formatUnlisted(model),
        model && describeMissingLevel(model, asked),
      ]
        .filter(Boolean)
        .join(" ") || undefined,
  };
}

/** The model of the settings if it is one of these, else the first. Undefined if there are none. */
function chooseScoped(models: readonly ScopedModel[], usual: DefaultModel): ScopedModel | undefined {
  const isUsual = ({ model }: ScopedModel) =>
    usual.kind === "resolved" && usual.because === "settings" && modelsAreEqual(model, usual.model);
  return models.find(isUsual) ?? models[0];
}

/** Explains why the model that the settings ask for cannot be used. */
function formatRefusal(reason: string | undefined, problems: string): string {
  const why = `The model that the settings ask for cannot be used. ${reason ?? ""}`.trimEnd();
  return `${why} Name another one, or change the setting.${problems}`;
}

/** Lists why models may be missing, each reason in a line of its own. */
function formatProblems(registry: ModelRegistry, extensionProblems: readonly ExtensionProblem[]): string {
  const files = registry.problems.map(formatFileProblem);
  const extensions = extensionProblems.map(({ extension, message }) => `${extension}: ${message}`);
  return [...files, ...extensions].map((line) => `\n  ${line}`).join("");
}

function lostModel(before: { provider: string; modelId: string } | null | undefined, model: Model | undefined) {
  if (!before || !model || (toProviderId(before.provider) === model.provider && before.modelId === model.id))
    return undefined;
  return `This session used ${before.provider}/${before.modelId} before. It continues with ${model.provider}/${model.id}.`;
}

/** Explains what becomes of a thinking level that was asked for. Undefined if the model has it. */
function describeMissingLevel(model: Model, level: ThinkingLevel | undefined): string | undefined {
  if (level === undefined || level === "off") return undefined;
  const levels = getSupportedThinkingLevels(model);
  if (levels.includes(level)) return undefined;
  const name = `${model.provider}/${model.id}`;
  if (!model.reasoning) return `${name} does not think, so the thinking level ${level} has no effect.`;
  const used = clampThinkingLevel(model, level);
  return `${name} has no thinking level ${level}, so ${used} is used. It has: ${levels.join(", ")}.`;
}

function parseLevel(level: AgentSessionParams["thinkingLevel"]): ThinkingLevel | undefined {
  if (level === undefined) return undefined;
  const parsed = parseThinkingLevel(level);
  if (parsed) return parsed;
  throw new HarnessError("invalid_input", `There is no thinking level ${JSON.stringify(level)}.`);
}

/** The session continues with its own model if that is one of the provider that is asked for. */
const isOf = (used: { provider: string } | null | undefined, provider: string): boolean =>
  used !== null &&
  used !== undefined &&
  toProviderId(used.provider.toLowerCase()) === toProviderId(provider.trim().toLowerCase());

type Resolved = Extract<ModelResolution, { kind: "resolved" }>;

function resolveSpec(
  registry: ModelRegistry,
  spec: string,
  { provider, problems }: { provider: string | undefined; problems: string },
): Resolved {
  const resolution = registry.resolve(spec, provider);
  if (resolution.kind === "resolved") return resolution;
  throw new HarnessError("unknown_model", `${resolution.message}${problems}`);
}
