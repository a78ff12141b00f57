/** The web: pages as Markdown, and searches. */
import type { Feature, FeatureTool } from "@tau/extensions";
import { webSettings } from "./settings.ts";

export interface FetchArguments {
  url: string;
  question?: string;
  maxChars?: number;
}

export interface SearchArguments {
  query: string;
  count?: number;
  recency?: "day" | "week" | "month" | "year";
  site?: string;
}

export const searchTool: FeatureTool = {
  name: "web_search",
  label: "Search the web",
  category: "external",
  description: "Search the web. Returns titles, addresses, dates and excerpts; web_fetch reads a page.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string" },
      count: { type: "integer", minimum: 1, maximum: 20, description: "Default 8" },
      recency: { type: "string", enum: ["day", "week", "month", "year"] },
      site: { type: "string", description: "Only pages of this host" },
    },
    required: ["query"],
  },
  exposure: "deferred",
  promptSnippet: "search the web",
  // Each provider is a host of its own, and asked about as such.
  access: () => [],
  readOnly: true,
  summarise: ({ query }: SearchArguments) => `Search the web: ${query}`,
};

export const fetchTool: FeatureTool = {
  name: "web_fetch",
  label: "Read a page",
  category: "external",
  description:
    "Read a page of the web as Markdown: documentation, articles, files, issues, JSON, images. With a question, a small model reads the page and answers with quotations.",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string" },
      question: { type: "string" },
      maxChars: { type: "integer", minimum: 1, description: "Default 20000" },
    },
    required: ["url"],
  },
  exposure: "deferred",
  promptSnippet: "read a page of the web",
  // The host is asked about when the address is known to be one that the person wrote, or not.
  access: () => [],
  readOnly: true,
  summarise: ({ url, question }: FetchArguments) => `Read ${url}${question === undefined ? "" : `: ${question}`}`,
};

export const web = (): Feature => ({
  name: "web",
  summary: "Searches the web, and reads its pages as Markdown.",
  tools: [fetchTool, searchTool],
  settings: webSettings,
  doctor: [{ name: "web search", check: async (place) => (await import("./search/doctor.ts")).checkProviders(place) }],
  load: async ({ env }) => (await import("./web.ts")).createWebExtension({ env: (name) => env[name] || undefined }),
});
