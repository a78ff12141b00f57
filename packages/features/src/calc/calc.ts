/** The code of the feature `calc`. */
import type { ExtensionFactory } from "@tau/extensions";
import { evaluate } from "./evaluate.ts";
import { calcTool } from "./feature.ts";

export const calcExtension: ExtensionFactory = (tau) => {
  tau.registerTool({
    ...calcTool,
    execute: async (_id, { expression }: { expression: string }) => ({
      content: [{ type: "text", text: evaluate(expression) }],
      details: {},
    }),
  });
};
