/** The object `models` of scripts. */
import { asRecord } from "@tau/ai/internal";
import type { ExtensionToolContext } from "@tau/extensions";
import { callOtherModel, type CallResult } from "./call-model.ts";
import { keyVariables, listOtherModels, type OtherModel } from "./catalog.ts";

type Registry = Pick<
  ExtensionToolContext["modelRegistry"],
  "getAll" | "hasConfiguredAuth" | "getApiKeyForProvider" | "complete"
>;

interface ModelInfo {
  readonly type: string;
  readonly provider: string;
  readonly id: string;
}

const listFunctions = ["getModelsOfType", "getAvailableOfType", "getModelOfType"] as const;
const runFunctions = ["classify", "generateImages"] as const;
type ListFunction = (typeof listFunctions)[number];
type RunFunction = (typeof runFunctions)[number];

export const isListFunction = (name: string): name is ListFunction => listFunctions.some((each) => each === name);
export const isRunFunction = (name: string): name is RunFunction => runFunctions.some((each) => each === name);

/** Variables of the session, of which some are keys. */
type Env = Readonly<Record<string, string | undefined>>;

/** Answers a call that lists models. Throws for arguments of the wrong kind. */
export async function answerModels(name: ListFunction, args: unknown, registry: Registry, env: Env): Promise<unknown> {
  const { type, provider, id } = asRecord(args);
  switch (name) {
    case "getModelsOfType":
      return listOfType(registry, type, provider);
    case "getAvailableOfType":
      return await listAvailable(registry, listOfType(registry, type, provider), env);
    case "getModelOfType":
      return listOfType(registry, type, provider).find((model) => model.id === id);
  }
}

/** Runs a model. A provider's error is a result, as in pi; so is a model that does not exist. */
export async function runModel(
  name: RunFunction,
  args: unknown,
  registry: Registry,
  signal: AbortSignal,
): Promise<CallResult> {
  const { provider, id, context } = asRecord(args);
  const type: OtherModel["type"] = name === "classify" ? "classifier" : "image";
  const empty = name === "classify" ? { answers: {} } : { output: [] };
  const model = listOtherModels().find((each) => each.type === type && each.provider === provider && each.id === id);
  if (!model) {
    const errorMessage = `There is no model ${String(provider)}/${String(id)} of the type ${type}.`;
    return { provider: String(provider), model: String(id), stopReason: "error", errorMessage, ...empty };
  }
  return { ...empty, ...(await callOtherModel(registry.complete, model, context, signal)) };
}

function listOfType(registry: Registry, type: unknown, provider: unknown): ModelInfo[] {
  if (type !== "chat" && type !== "image" && type !== "classifier")
    throw new Error('The type of models is "chat", "image" or "classifier".');
  const all: readonly ModelInfo[] =
    type === "chat" ? registry.getAll().map(toChatInfo) : listOtherModels().filter((model) => model.type === type);
  return all.filter((model) => provider === undefined || model.provider === provider);
}

/** Also of providers that have no models for conversations, which the registry does not know. */
async function listAvailable(registry: Registry, list: readonly ModelInfo[], env: Env): Promise<ModelInfo[]> {
  const usable = new Set<string>();
  for (const provider of new Set(list.map((model) => model.provider))) {
    const variable = keyVariables[provider];
    const hasKey = variable !== undefined && Boolean(env[variable]);
    if (
      hasKey ||
      registry.hasConfiguredAuth({ provider }) ||
      (await registry.getApiKeyForProvider(provider)) !== undefined
    )
      usable.add(provider);
  }
  return list.filter((model) => usable.has(model.provider));
}

const toChatInfo = ({ provider, id, name, api, input, contextWindow }: ReturnType<Registry["getAll"]>[number]) => ({
  type: "chat",
  provider,
  id,
  name,
  api,
  input,
  contextWindow,
});
