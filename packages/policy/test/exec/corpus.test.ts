import { describe, expect, test } from "vitest";
import { compareTiers } from "../../src/exec/classification.ts";
import { classifyCommand } from "../../src/exec/classify-command.ts";
import { defaultExecMediation, mediate } from "../../src/exec/mediation.ts";
import { allowRows, corpusContext, type CorpusRow, denyRows, ownAllowRows, ownDenyRows } from "./corpus.ts";

/** Each row is judged in several ways, and classified once. */
const classified = new Map<string, ReturnType<typeof classifyCommand>>();
function classify(cmd: string) {
  const classification = classified.get(cmd) ?? classifyCommand(cmd, corpusContext);
  classified.set(cmd, classification);
  return classification;
}

const decide = (cmd: string, attended: boolean, sandboxed = false) =>
  mediate(defaultExecMediation, classify(cmd), { attended, sandboxed }).kind;

const corpora: [string, CorpusRow[], CorpusRow[]][] = [
  ["the corpus", denyRows, allowRows],
  ["our own rows", ownDenyRows, ownAllowRows],
];

describe.for(corpora)("%s", ([, dangerous, harmless]) => {
  test.for(dangerous)("never runs unasked: $cmd", ({ cmd, tier }) => {
    expect(decide(cmd, false)).toBe("deny");
    expect(tier === "critical" ? ["deny"] : ["deny", "ask"]).toContain(decide(cmd, true));
  });

  test.for(dangerous)("is at least as dangerous as the row says: $cmd", ({ cmd, tier }) => {
    expect(compareTiers(classify(cmd).tier, tier)).toBeGreaterThanOrEqual(0);
  });

  test("has the right class for at least 95 % of the dangerous rows", () => {
    const wrong = dangerous.filter((row) => classify(row.cmd).class !== row.class);
    expect(wrong.length / dangerous.length, wrong.map(({ cmd }) => cmd).join("\n")).toBeLessThanOrEqual(0.05);
  });

  test.for(harmless)("never denies a look-alike: $cmd", ({ cmd, tier }) => {
    expect(decide(cmd, true)).not.toBe("deny");
    if (tier === "low") expect(decide(cmd, false)).toBe("allow");
  });
});
