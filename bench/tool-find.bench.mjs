/** The find tool over 50,000 files, beside the bare command with the same result. */
import { createFindTool } from "@tau/tools";
import { bareNames, bareOptions, compare, rareEnding, toolOptions, withTree } from "./tree.mjs";

export default async function bench(report) {
  await withTree(async (root) => {
    const find = createFindTool(toolOptions(root));
    const run = (args, expected) => async () => {
      const { details } = await find.execute("id", args);
      if (details.total !== expected) throw new Error(`${details.total} files were found`);
    };
    const bare = [...bareOptions, "--files"];
    const rare = `*${rareEnding}`;
    await compare({
      report,
      root,
      name: "few",
      tool: run({ pattern: rare }, 500),
      bareArgs: [...bare, ...bareNames(rare), "./"],
      lines: 500,
    });
    await compare({
      report,
      root,
      name: "all",
      tool: run({ pattern: "*" }, 50_001),
      bareArgs: [...bare, "./"],
      lines: 50_001,
    });
  });
}
