/** Which models a login serves, and where. It is stored beside the login, and is no secret. */
import { asRecord, isRecord } from "@tau/ai/internal";
import { isSafeUrl } from "./oauth-provider.ts";

export interface ServedModels {
  /** Instead of the address of the provider's models. */
  baseUrl?: string;
  /** The ids of the models. Absent: all of the provider. */
  ids?: readonly string[];
  /** Another provider: its models of the same id are served, in its way. */
  modelsOf?: string;
}

/** Reads the field `serves` of an entry. Pure. */
export function parseServed(value: unknown): ServedModels | undefined {
  if (!isRecord(value)) return undefined;
  const { baseUrl, ids } = value;
  return {
    ...(typeof baseUrl === "string" && isSafeUrl(baseUrl) && { baseUrl }),
    ...(Array.isArray(ids) && { ids: ids.filter((id): id is string => typeof id === "string") }),
  };
}

/** The ids in a list of models as OpenAI has it, without those that the account's policy has turned off. Pure. */
export function readModelIds(json: Record<string, unknown> | undefined): string[] | undefined {
  const list = json?.["data"];
  if (!Array.isArray(list)) return undefined;
  return list
    .map((model) => asRecord(model))
    .filter((model) => asRecord(model["policy"])["state"] !== "disabled")
    .flatMap(({ id }) => (typeof id === "string" ? id : []));
}
