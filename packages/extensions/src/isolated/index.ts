/** Extensions in processes of their own: what loads them here, and what runs in such a process. */
export { loadTypeboxModule } from "../load/shared-modules.ts";
export { type ChildParts, runExtensionChild } from "./child/run-extension-child.ts";
export { createHostcallJudge } from "./hostcall-judge.ts";
export { systemNetwork } from "./hostcalls/http.ts";
export { loadIsolated } from "./load-isolated.ts";
export { StreamBatch } from "./stream-batch.ts";
export type { HostcallJudge, HostNetwork, IsolatedPorts, JudgedHostcall } from "./ports.ts";
