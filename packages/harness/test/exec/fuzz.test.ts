/**
 * Any text gets an answer, soon. The whole: npm run bench -- policy-classify
 * More here: EXEC_FUZZ=100000 npx vitest run packages/harness/test/exec/fuzz.test.ts
 */
import { expect, test } from "vitest";
import { execTiers } from "../../src/policy/exec/classification.ts";
import { classifyCommand } from "../../src/policy/exec/classify-command.ts";
import { ruledNames } from "../../src/policy/exec/rules/index.ts";
import { allowRows, corpusContext, denyRows } from "./corpus.ts";
import { generateNoise } from "./noise.ts";
import { createRandom } from "./random.ts";

const count = Number(process.env.EXEC_FUZZ ?? 3_000);
const rows = [...denyRows, ...allowRows].map(({ cmd }) => cmd);
const maxCpuMs = 50;

const classify = (text: string) => {
  const started = process.cpuUsage();
  const { tier } = classifyCommand(text, corpusContext);
  const { user, system } = process.cpuUsage(started);
  return { tier, ms: (user + system) / 1_000 };
};
/** The least of several: compiling and collecting garbage count too. */
const measureMs = (text: string) => Math.min(...Array.from({ length: 8 }, () => classify(text).ms));

test(
  `${count} random texts are classified without a throw, each in less than ${maxCpuMs} ms of processor time`,
  { timeout: 300_000 + count * 60 },
  () => {
    const random = createRandom(Number(process.env.EXEC_SEED ?? 1));
    const slow: string[] = [];
    for (let index = 0; index < count; index++) {
      const text = generateNoise(random, rows);
      const { tier, ms } = classify(text);
      expect(execTiers).toContain(tier);
      if (ms > maxCpuMs && measureMs(text) > maxCpuMs) slow.push(text.slice(0, 80));
    }
    expect(slow).toEqual([]);
  },
);

test("random arguments of every program with rules are judged without an internal error", () => {
  const random = createRandom(Number(process.env.EXEC_SEED ?? 1));
  const options = [
    "-c",
    "-e",
    "-f",
    "-x",
    "-I",
    "--",
    "-",
    "--eval=x",
    "-exec",
    "{}",
    "\\;",
    "+",
    "/",
    "~",
    "$X",
    "'a b'",
    "x=1",
    "=",
    "run",
    "set",
  ];
  const words = [
    ...options,
    ...rows
      .join(" ")
      .split(/[\s'"`(){}<>|&;]+/)
      .filter((word) => word !== "" && !word.includes("\u202e")),
  ];
  const failed: string[] = [];
  for (const name of ruledNames) {
    for (let round = 0; round < 8; round++) {
      const command = [name, ...Array.from({ length: random.below(6) }, () => random.pick(words))].join(" ");
      const { findings } = classifyCommand(command, corpusContext);
      if (findings.some(({ reason }) => reason.includes("could not be analysed"))) failed.push(command);
    }
  }
  expect(failed).toEqual([]);
});

test("long arguments that repeat the beginning of what rules look for take less than 50 ms", () => {
  const repeat = (text: string) => text.repeat(Math.floor(60_000 / text.length));
  const texts = [
    `sqlite3 a.db '${repeat("\n")}'`,
    `sqlite3 a.db '${repeat(" .shel\n")}'`,
    `psql -c '${repeat("drop ")}'`,
    `psql -c '${repeat("truncate  ")}'`,
    `cc ${repeat("-out-")}`,
    `cc --${repeat("a_")}`,
    `terraform ${repeat("a-")}`,
    `apt ${repeat("install")}`,
    `python3 -c 'HOME ${repeat("a.")}'`,
    `python3 -c 'HOME ${repeat("a::")}'`,
    `python3 -c '${repeat("{ os.environ[ ")}'`,
    `python3 -c '${repeat('join("a", ')}'`,
    `python3 -c '${repeat('"a" + ')}'`,
    `ruby -e '${repeat("#{ENV[")}HOME'`,
    `perl -e '${repeat("$ENV{ ")}HOME'`,
    `perl -e '${repeat("q(")}'`,
    `ruby -e '${repeat("%w[")}'`,
    `make -f - <<< '${repeat(":")}'`,
    `vim -c '${repeat("system(")}'`,
    `vim -c '${repeat("shell-command ")}'`,
    `python3 -c 'spawn __file__ ${repeat("def a")}'`,
    `node -e 'spawn __filename ${repeat("function a(")}'`,
    `python3 -c '${repeat("/proc ")} os.kill('`,
    `python3 -c 'socket "sh" ${repeat(".listen()")}'`,
    `nocache ${repeat("rm a ")}`,
    `nocache ${"nice nocache ".repeat(16)}`,
  ];
  const slow = texts.filter((text) => measureMs(text) > maxCpuMs);
  expect(slow.map((text) => text.slice(0, 40))).toEqual([]);
});

test.each([
  `python3 -c '${"q{exec ".repeat(1_400)}'`,
  `ed x <<< '%w[${'join("a",shell-command '.repeat(1_700)}'`,
  "]][".repeat(7_600),
])("code inside of code and long patterns are given up soon: %.30s", (text) => {
  expect(classifyCommand(text, corpusContext).reason).toBe("The command has too many parts.");
});
