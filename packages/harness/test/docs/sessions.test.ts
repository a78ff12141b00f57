/** The page on sessions lists what is in a log, and what commands are told of their session. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { customTypes, type SessionEntry } from "@tau/protocol";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/sessions.md"), "utf8");

/** The names in the first column of the rows of a section. */
function listRows(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const cells = [...section.matchAll(/^\|([^|]*`[^|]*)\|/gm)].map((match) => match[1]!);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
}

/** A type that is added to the union does not compile without a line here. */
const types: Record<SessionEntry["type"], true> = {
  message: true,
  model_change: true,
  thinking_level_change: true,
  compaction: true,
  branch_summary: true,
  custom: true,
  custom_message: true,
  label: true,
  session_info: true,
  usage: true,
  context_edit: true,
  queue: true,
  prefix: true,
  permission_mode: true,
};

test("docs/sessions.md lists every type of entry", () => {
  expect(listRows("Lines").sort()).toEqual(Object.keys(types).sort());
});

test.each(Object.values(customTypes))("docs/sessions.md names the custom entries %s", (type) => {
  expect(page).toContain(`\`${type}\``);
});
