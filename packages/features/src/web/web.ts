/** The code of the feature `web`. */
import { lookup } from "node:dns/promises";
import type { ExtensionFactory } from "@tau/extensions";
import type { Address } from "@tau/sandbox/internal";
import { fetchTool, type FetchArguments, type SearchArguments, searchTool } from "./feature.ts";
import { Pages } from "./fetch/pages.ts";
import type { WebPorts } from "../kit/http/send.ts";
import { fetchPage } from "./fetch/web-fetch.ts";
import { searchWeb } from "./search/web-search.ts";

const systemPorts: WebPorts = {
  lookup: async (name) => (await lookup(name, { all: true })) as Address[],
  env: (name) => process.env[name] || undefined,
  now: () => performance.now(),
  timeoutMs: 30_000,
};

/** The next provider is asked after this. */
const searchTimeoutMs = 20_000;

export const createWebExtension =
  (ports: Partial<WebPorts> = {}): ExtensionFactory =>
  (tau) => {
    const resolved = { ...systemPorts, ...ports };
    const pages = new Pages(resolved);
    tau.registerTool({
      ...fetchTool,
      execute: async (_id, args: FetchArguments, signal, _onUpdate, context) =>
        await fetchPage(args, { tau, pages, context, signal }),
    });
    tau.registerTool({
      ...searchTool,
      execute: async (_id, args: SearchArguments, signal, _onUpdate, context) =>
        await searchWeb(args, {
          tau,
          pages,
          env: resolved.env,
          context,
          timeoutMs: Math.min(searchTimeoutMs, resolved.timeoutMs),
          signal,
        }),
    });
  };
