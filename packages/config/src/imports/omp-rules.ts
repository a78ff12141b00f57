/** Rules of oh-my-pi with a pattern, as rules of the feature `watch`. Others are instructions, which nothing here reads by itself. */
import { join } from "node:path";
import type { FoundItem, ImportAction } from "./found-item.ts";
import { createItems, none } from "./common.ts";
import { parseFrontMatter } from "../resources/front-matter.ts";
import type { ToolEntry, ToolFiles } from "./tool-files.ts";

const ending = /\.mdc?$/;

export async function findOmpRules(
  files: Pick<ToolFiles, "readText">,
  entries: readonly ToolEntry[],
): Promise<FoundItem[]> {
  const rules = entries.filter(({ name, isDirectory }) => !isDirectory && ending.test(name) && !name.startsWith("."));
  return await Promise.all(
    rules.map(async ({ name, path }) => {
      const title = name.replace(ending, "");
      return createItems("omp", path)("instructions", title, await toAction(title, path, files));
    }),
  );
}

async function toAction(name: string, path: string, files: Pick<ToolFiles, "readText">): Promise<ImportAction> {
  const { fields, body } = await parseFrontMatter(path, (await files.readText(path)) ?? "");
  const get = (field: string) => fields?.get(field)?.value;
  const patterns = toTexts(get("condition") ?? get("ttsrTrigger") ?? get("ttsr_trigger"));
  if (patterns.length === 0 || body === "")
    return none("is a rule of oh-my-pi without a pattern: put what you need into AGENTS.md");
  const scopes = toTexts(get("scope")).map(toScope);
  if (scopes.includes(undefined)) return none("is a rule of oh-my-pi with a scope that tau does not know");
  const lines = [
    `match: ${JSON.stringify(patterns)}`,
    ...(scopes.length > 0 ? [`scope: ${JSON.stringify(scopes)}`] : []),
  ];
  return { kind: "write", text: `---\n${lines.join("\n")}\n---\n${body}\n`, to: join("watch", `${name}.md`) };
}

function toTexts(value: unknown): string[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.filter((item): item is string => typeof item === "string" && item !== "");
}

function toScope(scope: string): string | undefined {
  if (scope === "text" || scope === "thinking") return scope;
  const [, tool] = /^tool(?:call)?(?::([\w-]+))?$/.exec(scope) ?? [undefined, null];
  return tool === null ? undefined : tool === undefined ? "arguments" : `arguments:${tool}`;
}
