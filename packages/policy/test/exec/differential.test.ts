/**
 * Tests that the analysis lists everything that bash really runs. Random scripts run inside of bubblewrap: the root is
 * read-only, nothing of the host can be written, there is no network, and PATH has recorders only. There are 100, or
 * 500 with `TAU_LONG=1`. More scripts: EXEC_SCRIPTS=5000 npx vitest run packages/policy/test/exec/differential.test.ts
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { classifyCommand } from "../../src/exec/classify-command.ts";
import { generateScript, recorders } from "./grammar.ts";
import { createRandom } from "./random.ts";

const count = Number(process.env.EXEC_SCRIPTS ?? (process.env.TAU_LONG ? 500 : 100));
const seed = Number(process.env.EXEC_SEED ?? 1);
const context = { cwd: "/work", home: "/home/me", workspace: "/work" };
const directory = mkdtempSync(join(tmpdir(), "tau-exec-differential-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const isolation = [
  "--ro-bind",
  "/",
  "/",
  "--tmpfs",
  "/tmp",
  "--dev",
  "/dev",
  "--proc",
  "/proc",
  "--unshare-all",
  "--die-with-parent",
];
const hasBubblewrap = spawnSync("bwrap", [...isolation, "/bin/true"]).status === 0;
if (!hasBubblewrap) console.warn("SKIPPED: bubblewrap does not work here, so nothing is compared with a real bash.");

/** Appends its name and arguments as one record, in one write. */
const recorder = `#!/bin/bash
printf '%s\\0' "\${0##*/}" "$@" $'\\x1e' >> "$RECORD"
[[ \${0##*/} == gamma ]] && exit 1
echo word1 word2
`;

/** Runs every script in an empty directory and then prints all records, with a separator after those of each script. */
const driver = `
for ((n = 0; n < $1; n++)); do
  RECORD=/tmp/record.$n
  : > $RECORD
  /bin/mkdir -p /tmp/work && cd /tmp/work
  /usr/bin/env -i PATH=/tmp/bin HOME=/home/me RECORD=$RECORD /usr/bin/timeout 20 /bin/bash --norc --noprofile "/tmp/scripts/$n" < /dev/null > /dev/null 2>&1
  /bin/rm -rf /tmp/work /tmp/*.sh /tmp/out*
done
# Only now, since nothing waits for process substitutions and coprocesses.
for ((n = 0; n < $1; n++)); do
  /bin/cat /tmp/record.$n
  printf '\\x1d\\0'
done
`;

function runScripts(scripts: readonly string[]): string[][][] {
  mkdirSync(join(directory, "scripts"));
  mkdirSync(join(directory, "bin"));
  writeFileSync(join(directory, "recorder"), recorder);
  chmodSync(join(directory, "recorder"), 0o755);
  for (const name of recorders) symlinkSync("/tmp/recorder", join(directory, "bin", name));
  scripts.forEach((script, index) => writeFileSync(join(directory, "scripts", String(index)), script));
  const binds = ["scripts", "bin", "recorder"].flatMap((name) => ["--ro-bind", join(directory, name), `/tmp/${name}`]);
  const run = spawnSync(
    "bwrap",
    [...isolation, ...binds, "/bin/bash", "-c", driver, "driver", String(scripts.length)],
    {
      maxBuffer: 2 ** 30,
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin" },
    },
  );
  expect(run.status, run.stderr).toBe(0);
  return run.stdout
    .split("\u001d\0")
    .slice(0, scripts.length)
    .map((records) =>
      records
        .split("\u001e\0")
        .filter(Boolean)
        .map((record) => record.split("\0").slice(0, -1)),
    );
}

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Whether a listed command may be the recorded one. A `…` stands for any text, or for any number of words. */
function covers(listed: readonly string[], recorded: readonly string[]): boolean {
  const [name = "", ...rest] = listed;
  const words = [name.slice(name.lastIndexOf("/") + 1), ...rest];
  const toPattern = (word: string) =>
    word
      .split("…")
      .map((part) => escape(part))
      .join("[\\s\\S]*");
  const source = words.map((word) => (word === "…" ? "(?:\\x00[\\s\\S]*)?" : `\\x00${toPattern(word)}`)).join("");
  return new RegExp(`^${source}$`).test(recorded.map((word) => `\0${word}`).join(""));
}

test.skipIf(!hasBubblewrap)(
  `bash runs nothing that the analysis of ${count} scripts does not list`,
  { timeout: 300_000 + count * 600 },
  () => {
    const random = createRandom(seed);
    const scripts = Array.from({ length: count }, () => generateScript(random));
    const records = runScripts(scripts);
    let total = 0;
    let opaque = 0;
    const missing: string[] = [];
    for (const [index, script] of scripts.entries()) {
      const { commands } = classifyCommand(script, context);
      for (const recorded of records[index]!) {
        total++;
        const matches = commands.filter((listed) => covers(listed, recorded));
        if (matches.length === 0) missing.push(`${JSON.stringify(recorded)} of script ${index}:\n${script}`);
        else if (matches.every(([name]) => name!.includes("…"))) opaque++;
      }
    }
    expect(missing.slice(0, 5), `seed ${seed}`).toEqual([]);
    // The comparison must mean something: much is recorded, and hardly anything is listed as "some program".
    expect(total).toBeGreaterThan(count * 2);
    expect(opaque / total).toBeLessThan(0.05);
  },
);
