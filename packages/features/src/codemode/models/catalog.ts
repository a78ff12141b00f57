/** The catalogue of models that are not for conversations: classifiers, and models for images. Conversations never use them. */
import { isRecord } from "@tau/ai/internal";
import { catalogJson } from "./catalog.generated.ts";

const otherModelTypes = ["image", "classifier"] as const;
type OtherModelType = (typeof otherModelTypes)[number];

export interface OtherModel {
  readonly type: OtherModelType;
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  readonly api: string;
  readonly baseUrl: string;
  readonly input: readonly string[];
  readonly [key: string]: unknown;
}

const apis: Readonly<Record<OtherModelType, readonly string[]>> = {
  image: ["openrouter-images"],
  classifier: ["openai-decisions", "typesafe-system-one", "cloudflare-workers-ai-system-one"],
};

/** The variables with the keys of providers that have no models for conversations. */
export const keyVariables: Readonly<Record<string, string>> = { typesafe: "TYPESAFE_API_KEY" };

let models: readonly OtherModel[] | undefined;

/** Lists all of them. The catalogue is read with the first call. */
export const listOtherModels = (): readonly OtherModel[] =>
  (models ??= (JSON.parse(catalogJson) as unknown[]).map(parseOtherModel));

/** Throws for an entry that is not complete, or whose protocol is not one of its type. */
export function parseOtherModel(value: unknown): OtherModel {
  if (!isRecord(value)) throw new Error("A model is not an object.");
  const { type, provider, id, name, api, baseUrl, input } = value;
  const known = otherModelTypes.find((each) => each === type);
  const isText = [provider, id, name, api, baseUrl].every((text) => typeof text === "string" && text !== "");
  const isInput =
    Array.isArray(input) && input.length > 0 && input.every((each) => each === "text" || each === "image");
  if (!known || !isText || !isInput || !apis[known].includes(api as string))
    throw new Error(`The model ${String(provider)}/${String(id)} of the type ${String(type)} is not complete.`);
  return value as unknown as OtherModel;
}
