/** Layer 1: the base tools and the custom tools of a session. */
import { addTools } from "./add-tools.ts";
import type { Layer } from "./layer.ts";

const layer = 1;

/**
 * The first layer, so it gets no tools. A custom tool replaces a base tool of the same name, since that is how an embedder
 * changes one; that is reported, and the order stays.
 */
export const baseTools: Layer = (_tools, { base, custom, choices, lifecycles, report }) => {
  const context = { layer, choices, lifecycles, report };
  const own = addTools([], base, context);
  const added = addTools([], custom, context);
  const replacements = new Map(added.map((tool) => [tool.name, tool]));
  const placed = own.map((tool) => {
    const replacement = replacements.get(tool.name);
    if (!replacement) return tool;
    report({ name: tool.name, layer, reason: "A custom tool of the same name replaces it." });
    return replacement;
  });
  const present = new Set(placed);
  return [...placed, ...added.filter((tool) => !present.has(tool))];
};
