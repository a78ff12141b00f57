/** A tool that describes an image, and answers questions about it. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { asRecord } from "@tau/ai/internal";
import type { Feature, FeatureTool } from "@tau/extensions";

export const resolveImagePath = (cwd: string, args: unknown): string => {
  const { path } = asRecord(args);
  const typed = typeof path === "string" ? path : "";
  return resolve(cwd, typed.replaceAll("\0", "").replace(/^~(?=\/|$)/, homedir()));
};

export const inspectImageTool: FeatureTool = {
  name: "inspect_image",
  label: "Inspect image",
  category: "files",
  description:
    "Describe an image file: format, size in pixels, what the camera wrote (without the location) and main colours. With a question, a model that sees images answers it.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, question: { type: "string", description: "About the image" } },
    required: ["path"],
  },
  isActive: () => false,
  access: (args: unknown, cwd) => [{ capability: "read", target: { kind: "path", path: resolveImagePath(cwd, args) } }],
  readOnly: true,
  isContained: true,
  summarise: (args: unknown) => `Inspect the image ${String(asRecord(args)["path"])}`,
};

export const inspectImage = (): Feature => ({
  name: "inspect_image",
  summary: "A tool that describes an image file and asks a model about it.",
  tools: [inspectImageTool],
  load: async () => (await import("./inspect-image.ts")).inspectImageExtension,
});
