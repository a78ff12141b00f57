import { describe, expect, test } from "vitest";
import { classifyCommand } from "../../src/policy/exec/classify-command.ts";
import { defaultExecMediation, mediate } from "../../src/policy/exec/mediation.ts";
import { allowRows, corpusContext, denyRows } from "./corpus.ts";

const decide = (cmd: string, attended: boolean, sandboxed = false) =>
  mediate(defaultExecMediation, classifyCommand(cmd, corpusContext), { attended, sandboxed }).kind;

describe("the corpus", () => {
  test.for(denyRows)("never runs unasked: $cmd", ({ cmd, tier }) => {
    expect(decide(cmd, false)).toBe("deny");
    expect(tier === "critical" ? ["deny"] : ["deny", "ask"]).toContain(decide(cmd, true));
  });

  test("finds the class of at least 95 % of the dangerous rows", () => {
    const wrong = denyRows.filter((row) => classifyCommand(row.cmd, corpusContext).class !== row.class);
    expect(wrong.map(({ cmd }) => cmd).length / denyRows.length).toBeLessThanOrEqual(0.05);
  });

  test.for(allowRows)("never denies a look-alike: $cmd", ({ cmd, tier }) => {
    expect(decide(cmd, true)).not.toBe("deny");
    if (tier === "low") expect(decide(cmd, false)).toBe("allow");
  });
});
