/** The grep tool over 50,000 files, beside the bare command with the same result. */
import { createGrepTool } from "@tau/tools";
import { bareNames, bareOptions, compare, needle, toolOptions, withTree } from "./tree.mjs";

export default async function bench(report) {
  await withTree(async (root) => {
    const grep = createGrepTool(toolOptions(root));
    const run = (args, expected) => async () => {
      const { details } = await grep.execute("id", args);
      if (details.matches !== expected) throw new Error(`${details.matches} matches were found`);
    };
    const bare = [...bareOptions, "--line-number", "--no-heading"];
    await compare({
      report,
      root,
      name: "one word",
      tool: run({ pattern: needle }, 50),
      bareArgs: [...bare, needle, "./"],
      lines: 50,
    });
    await compare({
      report,
      root,
      name: "a regular expression, a glob, context",
      tool: run({ pattern: "needle\\w+ \\d*500", glob: "*.ts", ignoreCase: true, context: 2 }, 50),
      bareArgs: [...bare, "--ignore-case", "--context=2", ...bareNames("*.ts"), "needle\\w+ \\d*500", "./"],
      lines: 50 * 5 + 49,
    });
  });
}
