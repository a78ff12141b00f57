import { describe, expect, test } from "vitest";
import { callTool, isWalled, load, toolCode } from "./kit.ts";

describe.runIf(isWalled)("an isolated extension", () => {
  test("answers tool calls from a process of its own", async () => {
    const host = await load(toolCode(`return String(process.pid);`));
    expect(host.extension).toMatchObject({ host: "isolated", state: "acknowledged" });
    expect(await callTool(host, "go")).toBe("1");
    expect(host.problems).toEqual([]);
  });
});
