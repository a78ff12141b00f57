/** `/init`: nothing is saved that the person has not seen and agreed to. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { init } from "../../src/index.ts";
import { parseAnswer } from "../../src/init/instructions-prompt.ts";
import { type Dialog, DialogSurface } from "../dialogs.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

type Turns = Parameters<typeof createTestSession>[0];
type Answers = ConstructorParameters<typeof DialogSurface>[0];

const written = "# Demo\n\n- Test: `npm test`";

async function open(turns: Turns, answers: Answers = [], params: TestSessionParams = {}) {
  const surface = new DialogSurface(answers);
  const opened = await createTestSession(turns, { features: [init()], ...params });
  onTestFinished(() => opened.dispose());
  await opened.session.attachSurface(surface);
  const path = join(opened.cwd, "AGENTS.md");
  const read = () => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
  return { ...opened, surface, path, read };
}

test("a child that can only read writes the text, and it is saved when the person says so", async () => {
  let atQuestion: string | undefined = "not asked";
  const opened = await open(
    [[call("read", { path: "package.json" })], [text(written)]],
    [() => ((atQuestion = opened.read()), "Save it")],
    { files: { "package.json": "{}" } },
  );
  await opened.session.prompt("/init mention the tests");
  expect(atQuestion).toBeUndefined();
  expect(opened.surface.notices[0]).toBe(`AGENTS.md would be written:\n\n${written}\n`);
  expect(opened.read()).toBe(`${written}\n`);
  const [first] = opened.model.asked;
  expect(first!.context.tools!.map(({ name }) => name).toSorted()).toEqual(["find", "grep", "ls", "read"]);
  expect(JSON.stringify(first!.context.messages)).toContain("mention the tests");
  expect(opened.session.messages).toEqual([]);
});

test("what nobody could see in the text is written out where it is shown", async () => {
  const { session, surface } = await open([[text(`${written}\u{e0061}\u202e`)]], ["Save nothing"]);
  await session.prompt("/init");
  expect(surface.notices[0]).toBe(`AGENTS.md would be written:\n\n${written}\\u{e0061}\\u{202e}\n`);
});

test.each([["Save nothing"], [undefined]])("answered with %j nothing is saved", async (answer) => {
  const { session, read, surface } = await open([[text(written)]], [answer]);
  await session.prompt("/init");
  expect(read()).toBeUndefined();
  expect(surface.notices.at(-1)).toBe("Nothing was written.");
});

test("an existing file is improved: the difference is shown, and what the person edits is what is saved", async () => {
  const before = "# Demo\n\n- Test: make test\n- Keep this.\n";
  const edited = (dialog: Dialog) => dialog.prefill!.replace("npm", "pnpm");
  const { session, read, surface, model } = await open(
    [[text("# Demo\n\n- Test: npm test\n- Keep this.")]],
    ["Change it in the editor first", edited],
    { files: { "AGENTS.md": before } },
  );
  await session.prompt("/init");
  expect(surface.notices[0]).toContain("-- Test: make test\n+- Test: npm test\n - Keep this.");
  expect(JSON.stringify(model.asked[0]!.context.messages)).toContain("Improve AGENTS.md");
  expect(read()).toBe("# Demo\n\n- Test: pnpm test\n- Keep this.\n");
});

test("a file that was changed meanwhile stays as it is", async () => {
  const opened = await open([[text(written)]], [() => (writeFileSync(opened.path, "mine\n"), "Save it")], {
    files: { "AGENTS.md": "old\n" },
  });
  await opened.session.prompt("/init");
  expect(opened.read()).toBe("mine\n");
  expect(opened.surface.notices.at(-1)).toContain("was changed meanwhile");
});

test("a file that appeared meanwhile is not replaced", async () => {
  const opened = await open([[text(written)]], [() => (writeFileSync(opened.path, "mine\n"), "Save it")]);
  await opened.session.prompt("/init");
  expect(opened.read()).toBe("mine\n");
  expect(opened.surface.notices.at(-1)).toContain("exists already");
});

test("a link that leads out of the project is not written through", async () => {
  const { session, cwd, path, surface } = await open([[text(written)]], ["Save it"]);
  const elsewhere = join(cwd, "../elsewhere.md");
  writeFileSync(elsewhere, "theirs\n");
  symlinkSync(elsewhere, path);
  await session.prompt("/init");
  expect(readFileSync(elsewhere, "utf8")).toBe("theirs\n");
  expect(surface.notices.at(-1)).toContain("outside of the project");
});

test("where nobody can be asked only --yes saves, and in plan mode nothing is asked", async () => {
  const { session, read, model } = await open([[text(written)], [text(written)]], ["Save nothing"]);
  await session.prompt("/init");
  expect(read()).toBeUndefined();
  await session.prompt("/init --yes");
  expect(read()).toBe(`${written}\n`);
  const planning = await open([], [], { planMode: true });
  await planning.session.prompt("/init --yes");
  expect(planning.surface.notices.at(-1)).toContain("Plan mode is on");
  expect([model.asked.length, planning.model.asked.length]).toEqual([2, 0]);
});

test.each([
  ["# A\n", { kind: "text", text: "# A\n" }],
  ["```markdown\n# A\n\n```sh\nls\n```\n```", { kind: "text", text: "# A\n\n```sh\nls\n```\n" }],
  ["```\nls\n```\n\n# A\n\n```\nls\n```", { kind: "text", text: "```\nls\n```\n\n# A\n\n```\nls\n```\n" }],
  ["````md\n# A\n\n```sh\nls\n```\n````", { kind: "text", text: "# A\n\n```sh\nls\n```\n" }],
  ["```\n# A\r\n```", { kind: "text", text: "# A\n" }],
  ["  ", { kind: "invalid", problem: "the answer is empty" }],
])("the answer %j is understood", (answer, expected) => {
  expect(parseAnswer(answer)).toEqual(expected);
});
