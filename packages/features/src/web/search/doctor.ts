/** The row of `tau doctor` about searches. */
import { resolveFields } from "@tau/config/settings";
import type { DoctorResult, FeaturePlace } from "@tau/extensions";
import { webSettings } from "../settings.ts";
import { getTitle, listUsable } from "./list-usable.ts";

/** Lists the providers that `web_search` can use, in their order. */
export function checkProviders({ settings, env }: Pick<FeaturePlace, "settings" | "env">): DoctorResult {
  const { webSearch } = resolveFields(webSettings, settings.get());
  // Which models have a key, the rows about providers of models say.
  const usable = listUsable(webSearch, { env: (name) => env[name] || undefined, findModel: () => undefined });
  const titles = usable.map((each) =>
    each.kind === "model" || each.isChosen ? getTitle(each) : `${getTitle(each)} (is asked about)`,
  );
  if (usable.length > 0) return { status: "ok", says: `Providers: ${titles.join(", ")}.` };
  return {
    status: "warn",
    says: "None of the providers in webSearch.providers has a key or an address.",
    fix: "Set the variable with its key, such as BRAVE_SEARCH_API_KEY, or webSearch.baseUrls.searxng.",
  };
}
