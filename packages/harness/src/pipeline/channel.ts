/** Layer 4: the tools of the channel that a session serves. */
import { addTools } from "./add-tools.ts";
import type { Layer } from "./layer.ts";

export const channelTools: Layer = (tools, { binding, choices, lifecycles, report }) =>
  addTools(tools, binding?.tools ?? [], { layer: 4, choices, lifecycles, report });
