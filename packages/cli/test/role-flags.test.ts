import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, run, textReply } from "./kit.ts";

/** Without titles, for which the model of smol is asked too. */
const base = { defaultModel: "acme/small", features: { titles: false } };

async function ask(args: readonly string[], { settings = {}, yml }: { settings?: object; yml?: string } = {}) {
  const workspace = await createModelWorkspace([textReply("Yes.")]);
  const { agentDir, server } = workspace;
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ ...base, ...settings }));
  if (yml !== undefined) await writeFile(join(agentDir, "models.yml"), yml);
  const { code, err } = await run(workspace, [...args, "-p", "Hello"]);
  return { code, err, asked: server.requests.map(({ body }) => (body as { model: string }).model) };
}

const yml = "roles:\n  slow:\n    model: acme/large:high\n";

test.each([
  [["--role", "slow"], "large"],
  [["--role", "@slow"], "large"],
  [["--model", "@slow"], "large"],
  [["--model=@slow:low"], "large"],
  [["--models", "@slow"], "large"],
  [["--role", "plan"], "small"],
  [["--plan-model", "large", "--role", "plan"], "large"],
  [["--smol", "acme/large", "--role", "smol"], "large"],
  [["--slow", "acme/small", "--role", "slow"], "small"],
  [["--slow", "acme/large"], "small"],
])("tau %j asks %s", async (args, model) => {
  expect(await ask(args, { yml })).toMatchObject({ code: 0, asked: [model] });
});

test("a wrong role, a wrong model of a role and two choices are refused in words", async () => {
  const wrong = { code: 2, asked: [] };
  expect(await ask(["--role", "fast"])).toMatchObject({ ...wrong, err: expect.stringContaining("The roles are:") });
  expect(await ask(["--slow", "xyzzy", "--role", "slow"])).toMatchObject({
    ...wrong,
    err: expect.stringMatching(/The model of the role slow cannot be used\. There is no model "xyzzy"/),
  });
  for (const other of ["--model", "--provider"])
    expect(await ask(["--role", "slow", other, "acme"])).toMatchObject({
      ...wrong,
      err: expect.stringContaining("do not go together"),
    });
});

test("an error in models.yml is reported with its line, and the rest is used", async () => {
  const { code, err, asked } = await ask(["--role", "slow"], { yml: `${yml}  plan:\n    model: 7\n` });
  expect([code, asked]).toEqual([0, ["large"]]);
  expect(err).toMatch(/models\.yml:5: "roles\.plan\.model" has to be/);
});
