/** A calculator: exact results for models, which are bad at long numbers. */
import type { Feature, FeatureTool } from "@tau/extensions";

export const calcTool: FeatureTool = {
  name: "calc",
  label: "Calculate",
  category: "runtime",
  description:
    "Calculate an expression exactly: + - * / % ^, parentheses, abs, floor, ceil, round, min, max; units of bytes (kB, MiB) and time (ms, h), also `2 GiB / 30 MB * 1 s in min`.",
  parameters: {
    type: "object",
    properties: { expression: { type: "string" } },
    required: ["expression"],
  },
  isActive: () => false,
  // It reads and changes nothing.
  access: () => [],
  readOnly: true,
  summarise: ({ expression }: { expression: string }) => `Calculate ${expression}`,
};

export const calc = (): Feature => ({
  name: "calc",
  summary: "A tool that calculates exactly, with units of bytes and time.",
  tools: [calcTool],
  load: async () => (await import("./calc.ts")).calcExtension,
});
