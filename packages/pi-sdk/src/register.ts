/**
 * Gives tau's modules to a program that imports pi's: `node --import @tau/pi-sdk/register program.js`. This file is loaded twice:
 * by the program, and by the thread of Node that resolves its imports.
 */
import { register, type ResolveHook } from "node:module";
import { isMainThread } from "node:worker_threads";

const targets: Readonly<Record<string, string>> = {
  "pi-agent-core": "@tau/pi/pi-agent-core",
  "pi-ai": "@tau/pi/pi-ai",
  "pi-ai/compat": "@tau/pi/pi-ai/compat",
  "pi-ai/models": "@tau/pi/pi-ai/models",
  "pi-ai/oauth": "@tau/pi/pi-ai/oauth",
  "pi-ai/providers/all": "@tau/pi/pi-ai/providers/all",
  "pi-coding-agent": "@tau/pi-sdk",
  "pi-tui": "@tau/pi/pi-tui",
};

export const resolve: ResolveHook = (specifier, context, next) => {
  const [, name = ""] = /^@(?:earendil-works|mariozechner)\/(.+)$/.exec(specifier) ?? [];
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  // Looked up from here: the program itself need not have the package.
  return target === undefined ? next(specifier, context) : next(target, { ...context, parentURL: import.meta.url });
};

if (isMainThread) register(import.meta.url);
