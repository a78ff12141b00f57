/** Which model a session begins with. */
import type { ThinkingLevel } from "@tau/agent";
import { clampThinkingLevel, type Model, parseThinkingLevel } from "@tau/ai";
import type { AgentSessionParams } from "./params.ts";
import { HarnessError } from "../errors.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";

interface ModelChoice {
  model: Model | undefined;
  thinkingLevel: ThinkingLevel;
  noModelReason: string;
}

/** What is asked for, else what the session used, else what the settings say, else what can be used. */
export async function chooseModel(
  params: AgentSessionParams,
  {
    registry,
    settings,
    sessionManager,
  }: { registry: ModelRegistry; settings: SettingsManager; sessionManager: SessionManager },
): Promise<ModelChoice> {
  const { defaultModel, defaultProvider, defaultThinkingLevel } = settings.get();
  const isNew = sessionManager.getEntryCount() === 0;
  const before = isNew ? undefined : await sessionManager.buildContext();
  const asked = parseLevel(params.thinkingLevel);
  const named = typeof params.model === "string" ? resolveSpec(registry, params.model) : undefined;
  const used = before?.model ? registry.find(before.model.provider, before.model.modelId) : undefined;
  const usual = () =>
    registry.defaultModel({
      ...(defaultModel !== undefined && { defaultModel }),
      ...(defaultProvider !== undefined && { defaultProvider }),
    });
  const given = typeof params.model === "object" ? params.model : named?.model;
  const fallback = (given ?? used) ? undefined : usual();
  const model = given ?? used ?? (fallback?.kind === "resolved" ? fallback.model : undefined);
  const level =
    asked ?? named?.thinkingLevel ?? parseThinkingLevel(before?.thinkingLevel ?? "") ?? defaultThinkingLevel;
  return {
    model,
    thinkingLevel: model ? clampThinkingLevel(model, level) : level,
    noModelReason: fallback?.kind === "none" ? fallback.message : "",
  };
}

function parseLevel(level: AgentSessionParams["thinkingLevel"]): ThinkingLevel | undefined {
  if (level === undefined) return undefined;
  const parsed = parseThinkingLevel(level);
  if (parsed) return parsed;
  throw new HarnessError("invalid_input", `There is no thinking level ${JSON.stringify(level)}.`);
}

function resolveSpec(registry: ModelRegistry, spec: string): { model: Model; thinkingLevel?: ThinkingLevel } {
  const found = registry.resolve(spec);
  if (found.kind === "resolved") return found;
  throw new HarnessError("unknown_model", found.message);
}
