import { expect, test } from "vitest";
import { Documents } from "../../src/lsp/documents.ts";

function openDocuments() {
  const sent: { method: string; params: object }[] = [];
  const documents = new Documents({
    notify: (method, params) => void sent.push({ method, params }),
    getMoment: () => ({ sentAt: 0, minVersion: 0 }),
  });
  const count = (method: string) => sent.filter((message) => message.method === method).length;
  return { documents, sent, count };
}

test("a server is notified whether a file is new, changed or gone", () => {
  const { documents, sent } = openDocuments();
  documents.set("/a.ts", "");
  for (const [path, exists] of [
    ["/a.ts", true],
    ["/b.ts", true],
    ["/b.ts", true],
    ["/b.ts", false],
    ["/b.ts", true],
  ] as const)
    documents.announce([{ path, exists }]);
  const changes = sent.flatMap(({ params }) => ("changes" in params ? (params.changes as object[]) : []));
  expect(changes).toEqual([
    { uri: "file:///a.ts", type: 2 },
    { uri: "file:///b.ts", type: 1 },
    { uri: "file:///b.ts", type: 2 },
    { uri: "file:///b.ts", type: 3 },
    { uri: "file:///b.ts", type: 1 },
  ]);
});

test("no more than 200 documents stay open, but while all of a change are needed", () => {
  const { documents, count } = openDocuments();
  for (let index = 0; index < 300; index++) documents.set(`/${index}.ts`, "", { keepsOthers: true });
  expect(count("textDocument/didClose")).toBe(0);
  documents.closeOldest();
  expect([count("textDocument/didClose"), documents.list().length, documents.get("/299.ts")?.version]).toEqual([
    100, 200, 1,
  ]);
  documents.set("/300.ts", "");
  expect(documents.list()).toHaveLength(200);
});
