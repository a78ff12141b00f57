import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ExtensionAPI } from "@tau/extensions";
import { Type } from "typebox";

export default function (tau: ExtensionAPI) {
  tau.registerTool({
    name: "word_count",
    label: "Word count",
    description: "Count the words of a file.",
    promptGuidelines: ["Use word_count instead of wc."],
    parameters: Type.Object({ path: Type.String() }),
    // What the call wants, for the policy. Without it the policy knows only the name of the tool.
    access: ({ path }) => [{ capability: "read", target: { kind: "path", path } }],
    readOnly: true,
    async execute(_toolCallId, { path }, signal, onUpdate, ctx) {
      onUpdate?.({ content: [{ type: "text", text: `Reading ${path}…` }] });
      const file = await readFile(resolve(ctx.cwd, path), { encoding: "utf8", ...(signal && { signal }) });
      const count = file.split(/\s+/).filter(Boolean).length;
      if (count === 0) throw new Error(`${path} has no words.`);
      // The model reads `content`. `details` are kept in the log, for renderers and for you.
      return { content: [{ type: "text", text: `${count} words` }], details: { count } };
    },
  });
}
