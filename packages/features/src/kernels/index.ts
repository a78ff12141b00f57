/** Code that keeps its variables and calls tools. */
export { type EvalArguments, kernels, type KernelsPorts } from "./feature.ts";
export { IpcChannel, KernelId, type KernelMessage, type KernelResult } from "./ipc.ts";
export type { KernelBridge } from "./kernel.ts";
export { KernelError, type KernelErrorKind } from "./kernel-error.ts";
