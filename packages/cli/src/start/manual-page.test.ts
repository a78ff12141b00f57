import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { commands } from "../commands/index.ts";
import { pages } from "../commands/pages.ts";
import { flagGroups } from "./flags.ts";
import { manualPage } from "./manual-page.ts";

/** Prints the page with groff, without hyphenation and in long lines. */
function print(page: string): string {
  const args = ["-man", "-Tutf8", "-P-cbou", "-rHY=0", "-rLL=2000n", "-ww"];
  return execFileSync("groff", args, { input: page, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
}

/** Why groff cannot be asked; undefined if it can. */
function findGroffProblem(): string | undefined {
  try {
    execFileSync("groff", ["-man", "-Tutf8"], { input: ".TH A 1\n", stdio: ["pipe", "ignore", "ignore"] });
    return undefined;
  } catch {
    return "groff with the macros of man is not installed: the manual page was not printed.";
  }
}

test("every command, flag and topic is in the manual page, and only the macros of the page begin a line", () => {
  const page = manualPage(commands, "1.2.3");
  for (const { name } of commands) expect(page).toContain(`.SS "tau ${name}"`);
  for (const { name } of flagGroups.flatMap(({ flags }) => flags)) {
    expect(page).toContain(`\\-\\-${name.replaceAll("-", "\\-")}`);
  }
  for (const { name } of pages) expect(page).toContain(`.B "${name.replaceAll("-", "\\-")}"`);
  const macros = page.split("\n").filter((line) => /^['.]/.test(line));
  expect(new Set(macros.map((line) => line.split(" ")[0]))).toEqual(new Set(".TH .SH .SS .TP .B .br".split(" ")));
});

test("no text of a table can become a macro or an escape of roff", () => {
  const hostile = fc.stringMatching(/^[-.'"\\`~^a-z ]{1,20}$/);
  fc.assert(
    fc.property(hostile, hostile, (summary, line) => {
      const page = manualPage([{ name: "x", summary, usage: [`tau x  ${line}`] }], "1");
      const lines = page.split("\n");
      expect(lines.filter((each) => /^['.]/.test(each) && !/^\.(TH|SH|SS|TP|B|br)( |$)/.test(each))).toEqual([]);
      expect(page.replaceAll(/\\(?:e|-|&|\((?:ga|aq|ti|ha|dq))/g, "")).not.toMatch(/\\/);
    }),
  );
});

test("man prints the words of the help as they are, without a complaint", (context) => {
  const problem = findGroffProblem();
  if (problem !== undefined) {
    console.log(problem);
    context.skip(problem);
  }
  const shown = print(manualPage(commands, "1.2.3")).replaceAll(/\s+/g, " ");
  for (const { summary, usage } of commands) {
    expect(shown).toContain(summary);
    for (const text of usage) expect(shown).toContain(text.split(/ {2,}/)[0]!.replaceAll(/\s+/g, " "));
  }
  expect(shown).toContain("git diff | tau -p 'Review this.'");
});
