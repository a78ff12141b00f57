/** Layer 1: the tools that a session is given. */
import { addTools } from "./add-tools.ts";
import type { Layer } from "./layer.ts";

const layer = 1;

/**
 * Everything begins here, so there are no tools before. A custom tool takes the place of a base tool of its name, since
 * that is how an embedder changes one; that is reported, and the order stays.
 */
export const baseTools: Layer = (_none, { base, custom, choices, report }) => {
  const context = { layer, choices, report };
  const own = addTools([], base, context);
  const given = addTools([], custom, context);
  const instead = new Map(given.map((tool) => [tool.name, tool]));
  const placed = own.map((tool) => {
    const replacement = instead.get(tool.name);
    if (!replacement) return tool;
    report({ name: tool.name, layer, reason: "A custom tool of the same name takes its place." });
    return replacement;
  });
  const present = new Set(placed);
  return [...placed, ...given.filter((tool) => !present.has(tool))];
};
