/** Layer 2: replaces tools by those that work inside the sandbox. */
import type { Layer } from "./layer.ts";

/** Changes nothing: there is no sandbox yet, and its position in the order is reserved. */
export const sandboxedTools: Layer = (tools) => [...tools];
