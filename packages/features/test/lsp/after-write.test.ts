/** Problems after changes of files, with real files and the scripted server. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import type { Feature } from "@tau/extensions";
import { expect, test } from "vitest";
import { discovery, lsp } from "../../src/index.ts";
import { maxWaitMs } from "../../src/lsp/after-write.ts";
import { createLspExtension } from "../../src/lsp/lsp.ts";
import { listResults, lspCall, runCalls, toyServer } from "./kit.ts";

const files = { "a.toy": "def one\nbad one\n", "b.toy": "bad old\n" };
const start = lspCall({ action: "hover", file: "a.toy", line: 1 }, "start");
/** Files that are not read may not be replaced. */
const readAll = Object.keys(files).map((path) => call("read", { path }, `read ${path}`));
const write = (content: string, id: string, path = "a.toy") => call("write", { path, content }, id);

/** Gives the problems of a change more time than people would: on a busy machine a server needs it. */
const patientLsp: Feature = {
  ...lsp(),
  load: async (place) =>
    createLspExtension(place, {
      ...systemClock,
      setTimer: (afterMs, fire) => systemClock.setTimer(afterMs === maxWaitMs ? 30_000 : afterMs, fire),
    }),
};

const withToy = (behaviour: string, settings: object = {}) => ({
  files,
  settings: { lsp: { ...settings, servers: { toy: { ...toyServer(behaviour) } } } } as object,
});

test.each(["good", "unversioned"])("the result of a change says which problems are new (%s)", async (behaviour) => {
  const { results } = await runCalls(
    [
      start,
      ...readAll,
      lspCall({ action: "diagnostics", file: "a.toy" }, "0"),
      write("def one\n\nbad one\nbadder two\n", "1"),
      call("edit", { path: "a.toy", edits: [{ oldText: "badder two", newText: "fine two" }] }, "2"),
      call("edit", { path: "a.toy", edits: [{ oldText: "fine two", newText: "baddest two" }] }, "3"),
    ],
    { ...withToy(behaviour), features: [discovery(), patientLsp] },
  );
  const texts = results.slice(readAll.length).map(({ text }) => text);
  expect(texts[2]).toContain("New problems in a.toy (toy):\na.toy:4:1: error: badder is not good (toy 7)");
  expect(texts[2]).not.toContain("bad is not good");
  expect(texts[3]).not.toContain("problems");
  expect(texts[4]).toContain("baddest is not good");
});

test("a server that has to be asked is asked, also about a file that it had not opened or was not asked about", async () => {
  const { results } = await runCalls(
    [
      start,
      ...readAll,
      write("def one\nbad one\n\n", "0"),
      write("bad still\n", "1", "b.toy"),
      write("fine\n", "2", "c.toy"),
      write("bad\n", "3", "c.toy"),
    ],
    withToy("pull"),
  );
  const [open, old, fresh, changed] = results.slice(1 + readAll.length).map(({ text }) => text);
  expect(open).toMatch(/^(?!.*pulled).*a\.toy/s);
  expect(old).toMatch(/^(?!.*pulled).*b\.toy/s);
  expect(fresh).not.toContain("pulled");
  expect(changed).toContain("New problems in c.toy (toy):\nc.toy:1:1: warning: pulled");
});

test("problems that come late are in a later result, once", async () => {
  const { opened, results } = await runCalls(
    [
      start,
      ...readAll,
      write("def one\nbadder\n", "1"),
      lspCall({ action: "request", query: "toy/late", payload: {}, file: "b.toy" }, "2"),
    ],
    withToy("late"),
  );
  expect(results.at(-2)!.text).not.toContain("badder");
  const count = () => listResults(opened).filter(({ text }) => text.includes("badder is not good")).length;
  const askAgain = async (): Promise<number> => {
    opened.model.add(
      [lspCall({ action: "hover", file: "a.toy", line: 1 }, `again ${opened.events.length}`)],
      [text("Done.")],
    );
    await opened.prompt("again");
    return count();
  };
  await expect.poll(askAgain, { timeout: 30_000 }).toBe(1);
  expect(await askAgain()).toBe(1);
});

test("with the setting off, and without a running server, results stay as they are", async () => {
  const off = await runCalls(
    [start, ...readAll, write("badder\n", "1")],
    withToy("good", { diagnosticsOnWrite: false }),
  );
  const none = await runCalls([...readAll, write("badder\n", "1")], withToy("good"));
  for (const { results } of [off, none]) expect(results.at(-1)!.text).toMatch(/^(?!.*problems).*a\.toy/s);
});

test("formatOnWrite formats what is written", async () => {
  const { opened } = await runCalls(
    [start, ...readAll, write("def one   \nuse one\t\n", "1")],
    withToy("good", { formatOnWrite: true }),
  );
  expect(await readFile(join(opened.cwd, "a.toy"), "utf8")).toBe("def one\nuse one\n");
});
