/** The code of the feature `web`. */
import { lookup } from "node:dns/promises";
import type { ExtensionFactory } from "@tau/extensions";
import type { Address } from "@tau/sandbox/internal";
import { fetchTool, type FetchArguments } from "./feature.ts";
import { Pages } from "./fetch/pages.ts";
import type { WebPorts } from "./fetch/send.ts";
import { fetchPage } from "./fetch/web-fetch.ts";

const systemPorts: WebPorts = {
  lookup: async (name) => (await lookup(name, { all: true })) as Address[],
  env: (name) => process.env[name] || undefined,
  now: () => performance.now(),
  timeoutMs: 30_000,
};

export const createWebExtension =
  (ports: Partial<WebPorts> = {}): ExtensionFactory =>
  (tau) => {
    const pages = new Pages({ ...systemPorts, ...ports });
    tau.registerTool({
      ...fetchTool,
      execute: async (_id, args: FetchArguments, signal, _onUpdate, context) =>
        await fetchPage(args, { tau, pages, context, signal }),
    });
  };
