import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Files } from "@tau/tools";
import { expect, onTestFinished, test } from "vitest";
import { bindCommand } from "./bind-command.ts";
import { classifyCommand } from "./exec/classify-command.ts";

const files = {
  realPath: (path: string) => realpath(path),
  readWhole: async (path: string) => ({ bytes: await readFile(path) }),
} as unknown as Pick<Files, "realPath" | "readWhole">;

const rows = [
  "./scripts/deploy.sh",
  "sudo ./scripts/deploy.sh",
  "cd scripts && ./deploy.sh",
  "cd scripts && sudo bash deploy.sh",
  "pushd scripts; sh -x ./deploy.sh",
  "(cd . ; cd scripts; . ./deploy.sh)",
  "bash -o pipefail scripts/deploy.sh",
  "python3 -W ignore scripts/deploy.sh",
  "env A=b node --title x scripts/deploy.sh",
  "cd scripts || exit 1; true; ./deploy.sh",
  "cat scripts/deploy.sh | sh",
  "sudo bash -x <scripts/deploy.sh",
  "sudo sh -s production < scripts/deploy.sh",
  "sudo bash -es -- production < scripts/deploy.sh",
  "sudo python3 - production < scripts/deploy.sh",
  ". /dev/stdin < scripts/deploy.sh",
  "source <(cat scripts/deploy.sh)",
  "sudo bash /dev/fd/3 production 3<scripts/deploy.sh",
  "sudo bash /proc/self/fd/3 3<scripts/deploy.sh",
  'sudo sh -c "$(cat scripts/deploy.sh)"',
  'eval "$(<scripts/deploy.sh)"',
  'while read -r line; do eval "$line"; done <scripts/deploy.sh',
  'mapfile -t words <scripts/deploy.sh; sudo "${words[@]}"',
  "xargs -a scripts/deploy.sh sudo",
  "sudo expect scripts/deploy.sh",
];

test.for(rows)("an answer about a command does not count for another script: %s", async (command) => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "tau-bind-")));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  mkdirSync(join(cwd, "scripts"));
  const { commands } = classifyCommand(command, { cwd, home: "/home/me", workspace: cwd });
  const bind = async (content: string) => {
    writeFileSync(join(cwd, "scripts/deploy.sh"), content);
    return await bindCommand({ command, commands, cwd }, files);
  };
  const before = await bind("echo harmless");
  expect(await bind("rm -rf ~")).not.toBe(before);
  expect(await bind("echo harmless")).toBe(before);
});

test("an answer counts for the text and for the commands that were found in it", async () => {
  const bind = (command: string, commands: string[][]) => bindCommand({ command, commands, cwd: "/" }, files);
  const before = await bind("$X", [["a"]]);
  expect(await bind("$X ", [["a"]])).not.toBe(before);
  expect(await bind("$X", [["b"]])).not.toBe(before);
  expect(await bind("$X", [["a"]])).toBe(before);
});
