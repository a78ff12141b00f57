/** The object `models` of scripts. */
import { asRecord } from "@tau/ai/internal";
import type { ExtensionToolContext } from "@tau/extensions";
import { listOtherModels, type OtherModel } from "./catalog.ts";

type Registry = Pick<ExtensionToolContext["modelRegistry"], "getAll" | "hasConfiguredAuth">;

interface ModelInfo {
  readonly type: string;
  readonly provider: string;
  readonly id: string;
}

export const modelFunctions = [
  "getModelsOfType",
  "getAvailableOfType",
  "getModelOfType",
  "classify",
  "generateImages",
] as const;

/** Answers a call of one of these functions. Throws for arguments of the wrong kind. */
export function answerModels(name: (typeof modelFunctions)[number], args: unknown, registry: Registry): unknown {
  const { type, provider, id } = asRecord(args);
  switch (name) {
    case "getModelsOfType":
      return listOfType(registry, type, provider);
    case "getAvailableOfType":
      return listOfType(registry, type, provider).filter((model) => registry.hasConfiguredAuth(model));
    case "getModelOfType":
      return listOfType(registry, type, provider).find((model) => model.id === id);
    case "classify":
      return { ...refuse("classifier", provider, id), answers: {} };
    case "generateImages":
      return { ...refuse("image", provider, id), output: [] };
  }
}

function listOfType(registry: Registry, type: unknown, provider: unknown): ModelInfo[] {
  if (type !== "chat" && type !== "image" && type !== "classifier")
    throw new Error('The type of models is "chat", "image" or "classifier".');
  const all: readonly ModelInfo[] =
    type === "chat" ? registry.getAll().map(toChatInfo) : listOtherModels().filter((model) => model.type === type);
  return all.filter((model) => provider === undefined || model.provider === provider);
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

/** No protocol of these models is written yet. A result says so, as results do with which a provider answers an error. */
function refuse(type: OtherModel["type"], provider: unknown, id: unknown) {
  const model = listOtherModels().find((each) => each.type === type && each.provider === provider && each.id === id);
  const errorMessage = model
    ? `tau cannot call ${model.provider}/${model.id}: it does not speak the protocol ${model.api}.`
    : `There is no model ${String(provider)}/${String(id)} of the type ${type}.`;
  return { provider, model: id, stopReason: "error", errorMessage };
}
