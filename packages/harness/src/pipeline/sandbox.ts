/** Layer 2: tools that work inside the sandbox instead of those that do not. */
import type { Layer } from "./layer.ts";

/** Changes nothing: there is no sandbox yet, and its place in the order is kept for it. */
export const sandboxedTools: Layer = (tools) => [...tools];
