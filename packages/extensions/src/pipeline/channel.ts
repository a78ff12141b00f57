/** Layer 4: the tools of the channel that a session serves. */
import type { ToolBinding } from "@tau/tools";
import { addTools } from "./add-tools.ts";
import type { ChannelBinding, Layer } from "./layer.ts";

/** The binding as the context of a tool has it. */
export const toToolBinding = ({ tools: _tools, ...binding }: ChannelBinding): ToolBinding => Object.freeze(binding);

export const channelTools: Layer = (tools, { binding, choices, lifecycles, report }) =>
  addTools(tools, binding?.tools ?? [], { layer: 4, choices, lifecycles, report });
