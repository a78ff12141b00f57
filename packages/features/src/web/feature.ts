/** The web: pages as Markdown, and searches. */
import type { Feature, FeatureTool } from "@tau/extensions";
import { webSettings } from "./settings.ts";

export interface FetchArguments {
  url: string;
  question?: string;
  maxChars?: number;
}

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

/** The feature `web`. */
export const web = (): Feature => ({
  name: "web",
  summary: "Reads pages of the web as Markdown.",
  tools: [fetchTool],
  settings: webSettings,
  load: async () => (await import("./web.ts")).createWebExtension(),
});
