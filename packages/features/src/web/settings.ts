/** The settings of the feature. */
import { list, nonEmptyText, oneOf } from "@tau/config/fields";
import { group, mapSetting, setting } from "@tau/config/settings";

const none: string[] = [];

/** In the order in which they are tried. */
export const searchProviderNames = [
  "brave",
  "exa",
  "tavily",
  "kagi",
  "perplexity",
  "jina",
  "serpapi",
  "serper",
  "google",
  "you",
  "firecrawl",
  "linkup",
  "searxng",
  "anthropic",
  "openai",
  "gemini",
  "xai",
  "duckduckgo",
] as const;

export const webSettings = {
  web: group("Reading pages of the web.", {
    allowedHosts: setting(list(nonEmptyText), {
      default: none,
      description:
        "Hosts that `web_fetch` reads without a question, also where nobody can be asked: `docs.example.org`, or `*.example.org` for all below it.",
      project: "never",
    }),
    allowedPrivateHosts: setting(list(nonEmptyText), {
      default: none,
      description:
        "Hosts in this machine or its own network that `web_fetch` may connect to, such as `localhost:3000` or `wiki.internal`. Without a port all ports.",
      project: "never",
    }),
  }),
  webSearch: group("Searching the web.", {
    providers: setting(list(oneOf(...searchProviderNames)), {
      default: undefined,
      description:
        "The providers of `web_search`, in the order in which they are tried. Those without a key are skipped; those of models use the keys of their models. Default: all that have a key, then DuckDuckGo, which is asked about.",
      project: "when trusted",
    }),
    baseUrls: mapSetting(
      setting(nonEmptyText, {
        default: undefined,
        description: "An address without the path of the interface.",
        project: "never",
      }),
      {
        by: "name of a provider",
        description: "Other addresses of providers: that of your SearXNG, or of a proxy. Your key is sent there.",
        project: "never",
      },
    ),
  }),
};
