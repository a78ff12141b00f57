/** The providers of searches, in the order in which they are tried: one record each. */
import { asRecord, isRecord } from "@tau/ai/internal";
import { parseDuckDuckGo } from "./duckduckgo.ts";
import { type FoundPage, getFirstDay, type Recency, type SearchProvider, type SearchQuery, withSite } from "./query.ts";

/** Reads a list of results in JSON. `at` names the way to the list, the rest the fields of a result, the first that is there. */
const readList =
  (
    at: readonly string[],
    fields: { title: string; url: string; excerpt: readonly string[]; date?: readonly string[] },
  ) =>
  (body: string): FoundPage[] => {
    let list: unknown = JSON.parse(body);
    // Some leave out the list where nothing was found.
    for (const name of at) list = asRecord(list)[name];
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list)) throw new TypeError(`${at.join(".")} is not a list.`);
    return list.filter(isRecord).flatMap((item) => {
      const url = item[fields.url];
      if (typeof url !== "string") return [];
      const date = findText(item, fields.date ?? []);
      return [
        {
          title: findText(item, [fields.title]),
          url,
          excerpt: findText(item, fields.excerpt),
          ...(date !== "" && { date }),
        },
      ];
    });
  };

/** The first field with a text; of a list of texts all. */
function findText(item: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  for (const name of names) {
    const value = item[name];
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value)) {
      const texts = value.filter((part) => typeof part === "string" && part !== "");
      if (texts.length > 0) return texts.join(" … ");
    }
  }
  return "";
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

function toUrl(address: string, parameters: Parameters): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
}

/** Without the fields that are undefined. */
const toJson = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const toDomains = ({ site }: SearchQuery) => (site === undefined ? undefined : [site]);

/** The filter of Google for the time of a page. */
const toTbs = (recency: Recency | undefined) => (recency === undefined ? undefined : `qdr:${recency[0]!}`);
const searxngRanges: Readonly<Record<Recency, string>> = { day: "day", week: "month", month: "month", year: "year" };

export const searchProviders: readonly SearchProvider[] = [
  {
    name: "brave",
    title: "Brave",
    baseUrl: "https://api.search.brave.com",
    keys: ["BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: toUrl(`${baseUrl}/res/v1/web/search`, {
        q: withSite(query, 400),
        count: Math.min(query.count, 20),
        freshness: query.recency && `p${query.recency[0]!}`,
      }),
      headers: { "x-subscription-token": key },
    }),
    parse: readList(["web", "results"], {
      title: "title",
      url: "url",
      excerpt: ["description"],
      date: ["page_age", "age"],
    }),
  },
  {
    name: "exa",
    title: "Exa",
    baseUrl: "https://api.exa.ai",
    keys: ["EXA_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/search`,
      headers: { "x-api-key": key },
      json: toJson({
        query: query.query,
        numResults: query.count,
        includeDomains: toDomains(query),
        startPublishedDate: getFirstDay(query),
        contents: { highlights: true },
      }),
    }),
    parse: readList(["results"], {
      title: "title",
      url: "url",
      excerpt: ["highlights", "summary", "text"],
      date: ["publishedDate"],
    }),
  },
  {
    name: "tavily",
    title: "Tavily",
    baseUrl: "https://api.tavily.com",
    keys: ["TAVILY_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/search`,
      headers: bearer(key),
      json: toJson({
        query: query.query,
        max_results: Math.min(query.count, 20),
        time_range: query.recency,
        include_domains: toDomains(query),
      }),
    }),
    parse: readList(["results"], { title: "title", url: "url", excerpt: ["content"], date: ["published_date"] }),
  },
  {
    name: "kagi",
    title: "Kagi",
    baseUrl: "https://kagi.com",
    keys: ["KAGI_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/api/v1/search`,
      headers: bearer(key),
      json: toJson({
        query: withSite(query),
        limit: query.count,
        filters: query.recency && { after: getFirstDay(query) },
      }),
    }),
    parse: readList(["data", "search"], { title: "title", url: "url", excerpt: ["snippet"], date: ["time"] }),
  },
  {
    name: "perplexity",
    title: "Perplexity",
    baseUrl: "https://api.perplexity.ai",
    keys: ["PERPLEXITY_API_KEY", "PPLX_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/search`,
      headers: bearer(key),
      json: toJson({
        query: query.query,
        max_results: Math.min(query.count, 20),
        search_recency_filter: query.recency,
        search_domain_filter: toDomains(query),
      }),
    }),
    parse: readList(["results"], { title: "title", url: "url", excerpt: ["snippet"], date: ["date", "last_updated"] }),
  },
  {
    name: "jina",
    title: "Jina",
    baseUrl: "https://s.jina.ai",
    keys: ["JINA_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: toUrl(`${baseUrl}/`, { q: withSite(query), num: query.count }),
      headers: { ...bearer(key), accept: "application/json", "x-respond-with": "no-content" },
    }),
    parse: readList(["data"], { title: "title", url: "url", excerpt: ["description", "content"], date: ["date"] }),
  },
  {
    name: "serpapi",
    title: "SerpAPI",
    baseUrl: "https://serpapi.com",
    keys: ["SERPAPI_API_KEY", "SERPAPI_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: toUrl(`${baseUrl}/search.json`, {
        engine: "google",
        q: withSite(query),
        num: query.count,
        tbs: toTbs(query.recency),
        api_key: key,
      }),
    }),
    parse: readList(["organic_results"], { title: "title", url: "link", excerpt: ["snippet"], date: ["date"] }),
  },
  {
    name: "serper",
    title: "Serper",
    baseUrl: "https://google.serper.dev",
    keys: ["SERPER_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/search`,
      headers: { "x-api-key": key },
      json: toJson({ q: withSite(query), num: query.count, tbs: toTbs(query.recency) }),
    }),
    parse: readList(["organic"], { title: "title", url: "link", excerpt: ["snippet"], date: ["date"] }),
  },
  {
    name: "google",
    title: "Google",
    baseUrl: "https://www.googleapis.com",
    keys: ["GOOGLE_CSE_API_KEY", "GOOGLE_SEARCH_API_KEY"],
    extra: "GOOGLE_CSE_ID",
    request: (query, { baseUrl, key, extra }) => ({
      url: toUrl(`${baseUrl}/customsearch/v1`, {
        key,
        cx: extra,
        q: query.query,
        num: Math.min(query.count, 10),
        dateRestrict: query.recency && `${query.recency[0]!}1`,
        siteSearch: query.site,
        siteSearchFilter: query.site && "i",
      }),
    }),
    parse: readList(["items"], { title: "title", url: "link", excerpt: ["snippet"] }),
  },
  {
    name: "you",
    title: "You.com",
    baseUrl: "https://ydc-index.io",
    keys: ["YDC_API_KEY", "YOUDOTCOM_API_KEY", "YOU_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/v1/search`,
      headers: { "x-api-key": key },
      json: toJson({
        query: query.query,
        count: query.count,
        freshness: query.recency,
        include_domains: toDomains(query),
      }),
    }),
    parse: readList(["results", "web"], {
      title: "title",
      url: "url",
      excerpt: ["snippets", "description"],
      date: ["page_age"],
    }),
  },
  {
    name: "firecrawl",
    title: "Firecrawl",
    baseUrl: "https://api.firecrawl.dev",
    keys: ["FIRECRAWL_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/v2/search`,
      headers: bearer(key),
      json: toJson({ query: withSite(query, 500), limit: query.count, sources: ["web"], tbs: toTbs(query.recency) }),
    }),
    parse: readList(["data", "web"], { title: "title", url: "url", excerpt: ["description"] }),
  },
  {
    name: "linkup",
    title: "Linkup",
    baseUrl: "https://api.linkup.so",
    keys: ["LINKUP_API_KEY"],
    request: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/v1/search`,
      headers: bearer(key),
      json: toJson({
        q: query.query,
        depth: "standard",
        outputType: "searchResults",
        maxResults: query.count,
        fromDate: getFirstDay(query),
        includeDomains: toDomains(query),
      }),
    }),
    parse: readList(["results"], { title: "name", url: "url", excerpt: ["content"] }),
  },
  {
    name: "searxng",
    title: "SearXNG",
    baseUrl: undefined,
    keys: [],
    request: (query, { baseUrl }) => ({
      url: toUrl(`${baseUrl}/search`, {
        q: withSite(query),
        format: "json",
        // It knows no week.
        time_range: query.recency && searxngRanges[query.recency],
      }),
    }),
    parse: readList(["results"], { title: "title", url: "url", excerpt: ["content"], date: ["publishedDate"] }),
  },
  {
    name: "duckduckgo",
    title: "DuckDuckGo",
    baseUrl: "https://html.duckduckgo.com",
    keys: [],
    request: (query, { baseUrl }) => ({
      url: toUrl(`${baseUrl}/html/`, { q: withSite(query), df: query.recency?.[0] }),
      headers: { accept: "text/html" },
    }),
    parse: parseDuckDuckGo,
  },
];
