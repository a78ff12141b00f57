/** Layer 4: what the channel that a session serves lends to it. */
import { addTools } from "./add-tools.ts";
import type { Layer } from "./layer.ts";

export const channelTools: Layer = (tools, { binding, choices, report }) =>
  addTools(tools, binding?.tools ?? [], { layer: 4, choices, report });
