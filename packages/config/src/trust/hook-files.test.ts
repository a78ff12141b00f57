import { expect, test } from "vitest";
import { listHookCommands, listWords } from "./hook-files.ts";

test.each<[command: string, files: string[]]>([
  ["./scripts/fmt.sh", ["scripts/fmt.sh"]],
  ["scripts/fmt.sh --fix", ["scripts/fmt.sh", "--fix"]],
  ['"$CLAUDE_PROJECT_DIR"/.claude/hooks/a.sh', [".claude/hooks/a.sh"]],
  ["${CLAUDE_PROJECT_DIR}/a.sh; $TAU_PROJECT_DIR/b.sh", ["a.sh", "b.sh"]],
  ["cd x && node ./b.js|tee out", ["cd", "x", "node", "b.js", "tee", "out"]],
  ["bash -c './a b.sh; ./c.sh'", ["bash", "-c", "a b.sh; ./c.sh", "a", "b.sh", "c.sh"]],
  ["A=./a.sh $(./b.sh) `./c.sh`", ["A", "a.sh", "$", "b.sh", "c.sh"]],
  ["../outside.sh /etc/passwd .", []],
  [String.raw`./a\ b.sh`, ["a b.sh", "a", "b.sh"]],
])("%s may name %j", (command, files) => {
  expect(listWords(command, "/p")).toEqual(files.map((file) => `/p/${file}`));
});

test.each<[unknown, string[]]>([
  [undefined, []],
  [{ Stop: [{ hooks: [{ command: "a" }, { command: 1 }] }, 3], Unknown: { hooks: { command: "b" } } }, ["a", "b"]],
])("the commands of %j are %j", (hooks, commands) => {
  expect(listHookCommands(hooks)).toEqual(commands);
});
