/** The row of `tau doctor` about searches. */
import { resolveFields } from "@tau/config/settings";
import type { DoctorResult, FeaturePlace } from "@tau/extensions";
import { webSettings } from "../settings.ts";
import { listUsable } from "./list-usable.ts";

/** Lists the providers that `web_search` can use, in their order. */
export function checkProviders({ settings }: Pick<FeaturePlace, "settings">): DoctorResult {
  const { webSearch } = resolveFields(webSettings, settings.get());
  const usable = listUsable(webSearch, (name) => process.env[name] || undefined);
  const titles = usable.map(({ provider, isChosen }) =>
    isChosen ? provider.title : `${provider.title} (is asked about)`,
  );
  if (usable.length > 0) return { status: "ok", says: `Providers: ${titles.join(", ")}.` };
  return {
    status: "warn",
    says: "None of the providers in webSearch.providers has a key or an address.",
    fix: "Set the variable with its key, such as BRAVE_SEARCH_API_KEY, or webSearch.baseUrls.searxng.",
  };
}
