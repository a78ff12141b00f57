/** Searches with a model whose provider runs searches itself. */
import type { Context, Model } from "@tau/ai";
import { asRecord } from "@tau/ai/internal";
import type { ExtensionContext } from "@tau/extensions";
import { WebFailure } from "../../kit/http/failure.ts";
import { type ModelSearch, searchInstructions, toPrompt } from "./model-search.ts";
import type { FoundPage, SearchQuery } from "./query.ts";

export type ModelPort = Pick<ExtensionContext, "model" | "modelRegistry">;

/** Models search and read before they answer. */
const timeoutMs = 60_000;
const maxTokens = 2_000;

/** The model that searches: the small one of the user, that of the session, or a small one of the provider. Undefined without a key. */
export function findSearchModel({ provider, api, small }: ModelSearch, port: ModelPort): Model | undefined {
  const fits = (model: Model | undefined) => (model?.provider === provider && model.api === api ? model : undefined);
  const { modelRegistry } = port;
  const own = fits(modelRegistry.findRole("smol")?.model);
  if (own) return own;
  const available = modelRegistry.getAvailable().filter(fits);
  const newest = available.toSorted((left, right) => right.id.localeCompare(left.id, "en", { numeric: true }));
  return newest.find(({ id }) => small.test(id)) ?? fits(port.model) ?? newest[0];
}

/** Throws a `WebFailure`. */
export async function searchWithModel(
  query: SearchQuery,
  search: ModelSearch,
  { model, port, signal }: { model: Model; port: ModelPort; signal: AbortSignal | undefined },
): Promise<FoundPage[]> {
  const time = AbortSignal.timeout(timeoutMs);
  const reader = search.createReader();
  const context: Context = {
    systemPrompt: searchInstructions,
    messages: [{ role: "user", content: toPrompt(query), timestamp: 0 }],
  };
  const message = await port.modelRegistry.complete(model, context, {
    maxTokens,
    signal: signal ? AbortSignal.any([signal, time]) : time,
    onPayload: (payload) => search.addTool(asRecord(payload), query),
    onProviderStreamEvent: (event) => reader.add(event),
  });
  if (message.stopReason === "error" || message.stopReason === "aborted")
    throw new WebFailure(
      "unreadable",
      time.aborted ? "It did not answer in time." : (message.errorMessage ?? "It failed."),
    );
  try {
    return reader.getPages();
  } catch (error) {
    throw new WebFailure("unreadable", error instanceof Error ? error.message : "It failed.", { cause: error });
  }
}
