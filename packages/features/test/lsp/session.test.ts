/** The tool `lsp` in sessions, with the scripted server. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listResults, lspCall, makeDirectory, readLines, runCalls, toyServer, writeFiles } from "./kit.ts";

const toyFiles = { "a.toy": "def one\nuse one\nbad two\n", "b.toy": "use one\nsee a.toy\n" };

const withToy = (behaviour = "good", starts = "") => ({
  files: toyFiles,
  settings: { lsp: { servers: { toy: { ...toyServer(behaviour, starts) } } } } as object,
});

test("each action gives its answer, with places for surfaces", async () => {
  const position = { file: "a.toy", line: 2, symbol: "one" };
  const { results } = await runCalls(
    [
      lspCall({ action: "hover", ...position }, "1"),
      lspCall({ action: "definition", ...position }, "2"),
      lspCall({ action: "references", ...position }, "3"),
      lspCall({ action: "symbols", file: "a.toy" }, "4"),
      lspCall({ action: "symbols", file: "a.toy", query: "nothing" }, "5"),
      lspCall({ action: "diagnostics", file: ["a.toy", "b.toy"] }, "6"),
      lspCall({ action: "code_actions", file: "a.toy", line: 3 }, "7"),
      lspCall({ action: "capabilities", file: "a.toy" }, "8"),
      lspCall({ action: "request", query: "textDocument/hover", ...position }, "9"),
      lspCall({ action: "status" }, "10"),
      lspCall({ action: "reload" }, "11"),
      lspCall({ action: "implementation", ...position }, "12"),
      lspCall({ action: "hover", file: "a.toy", line: 2, symbol: "two" }, "13"),
      lspCall({ action: "hover", file: "c.unknown", line: 1 }, "14"),
      lspCall({ action: "hover", file: "tsconfig.json", line: 1 }, "15"),
    ],
    { ...withToy(), files: { ...toyFiles, "tsconfig.json": "{}", "c.unknown": "x" } },
  );
  const texts = results.map(({ text }) => text);
  expect(texts[0]).toBe("word one");
  expect(texts[1]).toBe("a.toy:1:5\n  1: def one\n  2: use one\n  3: bad two\n  4: ");
  expect(results[1]!.details).toMatchObject({
    places: [{ path: "a.toy", line: 1, column: 5, excerpt: { firstLine: 1, current: 1 } }],
  });
  expect(texts[2]).toBe("a.toy:1:5: def one\na.toy:2:5: use one");
  expect(texts[3]).toBe("a.toy:1:5: function one");
  expect(texts[4]).toBe("No symbols were found.");
  expect(texts[5]).toBe("1 error:\na.toy:3:1: error: bad is not good (toy 7)");
  expect(texts[6]).toBe("1. Make it good (quickfix)\n2. Run the fixer");
  expect(texts[7]).toMatch(/^toy:\n.*hoverProvider/s);
  expect(texts[8]).toContain('"value": "word one"');
  expect(texts[9]).toMatch(/^Running:\ntoy \(toy 1\) in .*: (?:ready|idle for \d+ s), 2 files open/);
  expect(texts[10]).toBe("Restarted: toy.");
  expect(texts[11]).toBe("toy cannot find implementations.");
  expect(texts[12]).toBe('"two" is not on line 2 of a.toy: use one');
  expect(texts[13]).toMatch(/^No language server is known for .*c\.unknown/);
  expect(texts[14]).toMatch(/^No language server for .* is installed\. .*vscode-json-language-server|biome|json/s);
  expect(results.map(({ isError }) => isError)).toEqual([...Array<boolean>(11).fill(false), true, true, true, true]);
});

test("rename, rename_file and code_actions change all files through the tool that edits do, with a diff in the log", async () => {
  const { results, opened } = await runCalls(
    [
      lspCall({ action: "hover", file: "b.toy", line: 1, symbol: "one" }, "1"),
      lspCall({ action: "rename", file: "a.toy", line: 2, symbol: "one", new_name: "first" }, "2"),
      lspCall({ action: "code_actions", file: "a.toy", line: 3, query: "good", apply: true }, "3"),
      lspCall({ action: "code_actions", file: "b.toy", line: 1, query: "1", apply: true }, "4"),
      lspCall({ action: "rename_file", file: "a.toy", new_name: "z.toy" }, "5"),
      lspCall({ action: "code_actions", file: "z.toy", line: 1, query: "nothing", apply: true }, "6"),
    ],
    withToy(),
  );
  expect(results.map(({ isError, text }) => [isError, text.split("\n")[0]])).toEqual([
    [false, "word one"],
    [false, "Changed b.toy, a.toy."],
    [false, "Changed a.toy."],
    [false, "Changed b.toy."],
    [false, "Changed b.toy, a.toy."],
    [true, expect.stringContaining('No code action matches "nothing"')],
  ]);
  expect(await readFile(join(opened.cwd, "z.toy"), "utf8")).toBe("def first\nuse first\ngood two\n");
  expect(await readFile(join(opened.cwd, "b.toy"), "utf8")).toBe("fixed use first\nsee z.toy\n");
  await expect(readFile(join(opened.cwd, "a.toy"))).rejects.toThrow("ENOENT");
  const nested = opened.events.filter((event) => "parentToolCallId" in event && event.type === "tool_execution_end");
  expect(nested.length).toBeGreaterThanOrEqual(4);
  expect(JSON.stringify(await opened.session.sessionManager.getEntries(100))).toContain("+use first");
});

test("what changes files is judged as writing: plan mode refuses it and still answers questions", async () => {
  const { results, opened } = await runCalls(
    [
      lspCall({ action: "hover", file: "a.toy", line: 2, symbol: "one" }, "1"),
      lspCall({ action: "rename", file: "a.toy", line: 2, symbol: "one", new_name: "first" }, "2"),
      lspCall(
        { action: "request", file: "a.toy", query: "workspace/executeCommand", payload: { command: "fix" } },
        "3",
      ),
    ],
    { ...withToy(), planMode: true },
  );
  expect(results.map(({ isError }) => isError)).toEqual([false, true, true]);
  expect(await readFile(join(opened.cwd, "a.toy"), "utf8")).toBe(toyFiles["a.toy"]);
});

test("the sessions of a process share a server, which ends with the last of them", async () => {
  const directory = await makeDirectory();
  await writeFiles(directory, toyFiles);
  const starts = join(directory, "starts");
  const params = { ...withToy("good", starts), files: {}, cwd: directory };
  const ask = [lspCall({ action: "hover", file: "a.toy", line: 2, symbol: "one" }, "1")];
  const [first, second] = [await runCalls(ask, params), await runCalls(ask, params)];
  expect([first, second].map(({ results }) => results[0]!.text)).toEqual(["word one", "word one"]);
  expect(await readLines(starts)).toHaveLength(1);
  // A session that has not asked it anything yet sees it, and starts it again.
  const third = await runCalls([lspCall({ action: "reload" }, "3")], params);
  expect(third.results[0]!.text).toBe("Restarted: toy.");
  expect(await readLines(starts)).toHaveLength(2);
  await third.opened.session.dispose();
  await first.opened.session.dispose();
  second.opened.model.add(
    [lspCall({ action: "hover", file: "a.toy", line: 1, symbol: "def" }, "2")],
    [{ type: "text", text: "Done." }],
  );
  await second.opened.prompt("again");
  expect(listResults(second.opened).at(-1)!.text).toBe("word def");
  expect(await readLines(starts)).toHaveLength(3);
});

test("a session neither sees, asks nor restarts the servers of another project of its process", async () => {
  const [theirs, ours] = [await makeDirectory(), await makeDirectory()];
  await writeFiles(theirs, toyFiles);
  await writeFiles(ours, toyFiles);
  const starts = join(theirs, "starts");
  const ask = [lspCall({ action: "hover", file: "a.toy", line: 2, symbol: "one" }, "1")];
  await runCalls(ask, { ...withToy("good", starts), files: {}, cwd: theirs });
  const { results } = await runCalls(
    [
      lspCall({ action: "status" }, "1"),
      lspCall({ action: "reload" }, "2"),
      lspCall({ action: "request", query: "workspace/symbol", payload: { query: "one" } }, "3"),
    ],
    { ...withToy("good", starts), files: {}, cwd: ours },
  );
  expect(results.map(({ text }) => text.split(".")[0])).toEqual([
    "No language server is running",
    "No language server is running",
    "No language server for this project is running or installed",
  ]);
  expect(await readLines(starts)).toHaveLength(1);
});

test("servers of lsp.json and lsp.yml are used, those of a project only after trust", async () => {
  const [agentDir, cwd] = [await makeDirectory(), await makeDirectory()];
  const { command, args } = toyServer("good");
  await writeFile(
    join(agentDir, "lsp.yml"),
    `servers:\n  mine:\n    command: ${command}\n    args: ${JSON.stringify(args)}\n    fileTypes: [.mine]\n`,
  );
  const project = {
    servers: { theirs: { command, args: [...args!, "theirs"], fileTypes: [".theirs"] }, broken: { fileTypes: 7 } },
  };
  await writeFiles(cwd, { "a.mine": "one", "a.theirs": "one", ".tau/lsp.json": JSON.stringify(project) });
  const calls = [
    lspCall({ action: "hover", file: "a.mine", line: 1 }, "1"),
    lspCall({ action: "hover", file: "a.theirs", line: 1 }, "2"),
  ];
  const trusted = await runCalls(calls, { agentDir, cwd });
  expect(trusted.results.map(({ text }) => text.split("\n")[0])).toEqual(["word one", "word one"]);
  expect(trusted.results[0]!.text).toMatch(/Note: .*lsp\.json: The server broken:/);
});
