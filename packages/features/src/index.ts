/** All features of tau. Each is a folder here; `feature.ts` describes it, and the rest is loaded when it is first used. */
export { allFeatures } from "./all-features.ts";
export { agents } from "./agents/feature.ts";
export { ask } from "./ask/feature.ts";
export { calc } from "./calc/feature.ts";
export { codemode } from "./codemode/feature.ts";
export { debug } from "./debug/feature.ts";
export { ast } from "./ast/feature.ts";
export { discovery } from "./discovery/feature.ts";
export { inspectImage } from "./inspect-image/feature.ts";
export { lsp } from "./lsp/feature.ts";
export { kernels } from "./kernels/feature.ts";
export { mcp } from "./mcp/feature.ts";
export { memory } from "./memory/feature.ts";
export { plan } from "./plan/feature.ts";
export { todo } from "./todo/feature.ts";
export { worktrees } from "./agents/worktrees/feature.ts";
export { web } from "./web/feature.ts";
