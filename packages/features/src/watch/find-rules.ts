/** Reads the rules of a session: those of the user, and of a project that the user trusts. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseFrontMatter } from "@tau/config/internal";
import { readTextFile } from "@tau/config/settings";
import type { FeaturePlace } from "@tau/extensions";
import { nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import { listDirectories } from "./feature.ts";
import { readRule, type RefusedRule, type WatchRule } from "./rule.ts";

interface FoundRules {
  readonly rules: readonly WatchRule[];
  readonly refused: readonly RefusedRule[];
}

const ending = ".md";
const maxRules = 50;
/** Every character of an answer may take as many steps: more would be seen as a pause. */
const maxSteps = 2_000;

export async function findRules(place: Pick<FeaturePlace, "agentDir" | "cwd" | "settings">): Promise<FoundRules> {
  const rules: WatchRule[] = [];
  const refused: RefusedRule[] = [];
  let steps = 0;
  for (const directory of listDirectories(place)) {
    const files = (await unlessMissing(readdir(directory))) ?? [];
    for (const file of files.filter((name) => name.endsWith(ending)).toSorted()) {
      const path = join(directory, file);
      const read = await readFileRule(path, file.slice(0, -ending.length));
      if (read.kind === "refused") {
        refused.push({ path, reason: read.reason });
        continue;
      }
      const size = read.rule.matchers.reduce((sum, matcher) => sum + matcher.size, 0);
      if (rules.length === maxRules) refused.push({ path, reason: `There are more than ${maxRules} rules.` });
      else if (steps + size > maxSteps)
        refused.push({ path, reason: `With its patterns all rules together have more than ${maxSteps} steps.` });
      else {
        rules.push(read.rule);
        steps += size;
      }
    }
  }
  return { rules, refused };
}

async function readFileRule(path: string, name: string): Promise<ReturnType<typeof readRule>> {
  const read = await readTextFile(nodeFileSystem, path);
  if (read.kind === "absent") return { kind: "refused", path, reason: "The file is gone." };
  if (read.kind === "unreadable") return { kind: "refused", path, reason: read.message };
  const { fields, body, problem } = await parseFrontMatter(path, read.text);
  return problem ? { kind: "refused", path, reason: problem.message } : readRule({ name, path, fields, body });
}
