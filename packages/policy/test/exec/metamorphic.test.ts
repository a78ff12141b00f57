/**
 * However a dangerous command is written, the verdict never becomes weaker. Nothing is run. A short run tries each way with
 * every sixth command, in turns, and fewer combinations; `TAU_LONG=1` tries each way with each command.
 * All variants: EXEC_VARIANTS=200000 npx vitest run packages/policy/test/exec/metamorphic.test.ts
 */
import { expect, test } from "vitest";
import { compareTiers } from "../../src/exec/classification.ts";
import { classifyCommand } from "../../src/exec/classify-command.ts";
import { corpusContext, denyRows } from "./corpus.ts";
import { createRandom } from "./random.ts";
import { transforms } from "./transform.ts";

const isLong = Boolean(process.env.TAU_LONG);
const count = Number(process.env.EXEC_VARIANTS ?? (isLong ? 5_000 : 600));
const seed = Number(process.env.EXEC_SEED ?? 1);
const names = Object.keys(transforms);

test("every way to write a command alone keeps the verdict", () => {
  expect(names.length).toBeGreaterThanOrEqual(15);
  const stride = isLong ? 1 : 6;
  const weaker = denyRows.flatMap((row, index) =>
    names.filter((_name, way) => (index + way) % stride === 0).flatMap((name) => findWeaker(row.cmd, [name])),
  );
  expect(weaker).toEqual([]);
});

test(
  `${count} combinations of up to three ways to write a command keep the verdict`,
  { timeout: 300_000 + count * 30 },
  () => {
    const random = createRandom(seed);
    const weaker: string[] = [];
    for (let index = 0; index < count; index++) {
      const row = random.pick(denyRows);
      const steps = Array.from({ length: 1 + random.below(3) }, () => random.pick(names));
      weaker.push(...findWeaker(row.cmd, steps));
    }
    expect(weaker.slice(0, 20), `seed ${seed}`).toEqual([]);
  },
);

const expectedTiers = new Map(denyRows.map(({ cmd }) => [cmd, classifyCommand(cmd, corpusContext).tier]));

/** Empty, or what became weaker and how. */
function findWeaker(cmd: string, steps: readonly string[]): string[] {
  let script = cmd;
  for (const [index, step] of steps.entries()) script = transforms[step]!(script, index) ?? script;
  const expected = expectedTiers.get(cmd)!;
  const actual = classifyCommand(script, corpusContext);
  if (compareTiers(actual.tier, expected) >= 0) return [];
  return [`${expected} -> ${actual.tier}: ${steps.join(" + ")}: ${cmd.slice(0, 200)}`];
}
