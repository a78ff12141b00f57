/** Symbols of files that no server is installed for. */
import { expect, test } from "vitest";
import { isForFile, serverTable } from "../../src/lsp/server-table.ts";
import { lspCall, runCalls } from "./kit.ts";

/** Makes every server for these files a missing one, whatever this machine has. */
const withoutServers = Object.fromEntries(
  serverTable
    .filter((server) => isForFile(server, "a.ts") || isForFile(server, "a.py"))
    .map(({ name }) => [name, { command: `missing-${name}` }]),
);

const note = "These are from the syntax tree: no language server for this file is installed.";
const source = `export class Store {
  get(key: string) {
    return key;
  }
}
export const limit = 3;
`;

test("symbols come from the syntax tree where no server is installed, with their places", async () => {
  const { results } = await runCalls(
    [
      lspCall({ action: "symbols", file: "a.ts" }, "1"),
      lspCall({ action: "symbols", file: "a.ts", query: "GET" }, "2"),
      lspCall({ action: "symbols", file: "a.ts", query: "nothing" }, "3"),
      lspCall({ action: "symbols", file: "a.py" }, "4"),
      lspCall({ action: "symbols", file: "missing.ts" }, "5"),
      lspCall({ action: "hover", file: "a.ts", line: 1 }, "6"),
    ],
    { files: { "a.ts": source, "a.py": "def f(): pass\n" }, settings: { lsp: { servers: withoutServers } } as object },
  );
  expect(results.map(({ text }) => text)).toEqual([
    `a.ts:1:8: class Store\na.ts:2:3: method Store.get\na.ts:6:14: variable limit\n${note}`,
    `a.ts:2:3: method Store.get\n${note}`,
    `No symbols were found.\n${note}`,
    expect.stringMatching(/^No language server for .*a\.py is installed\. Any of these would do: .*pyright/),
    "missing.ts could not be read (ENOENT).",
    expect.stringMatching(/^No language server for .*a\.ts is installed\./),
  ]);
  expect(results.map(({ isError }) => isError)).toEqual([false, false, false, true, true, true]);
  expect(results[0]!.details).toMatchObject({
    places: [
      { path: "a.ts", line: 1, name: "Store", kind: "class" },
      { path: "a.ts", line: 2, name: "Store.get", kind: "method", endLine: 4 },
      { path: "a.ts", line: 6, name: "limit", kind: "variable" },
    ],
  });
});
