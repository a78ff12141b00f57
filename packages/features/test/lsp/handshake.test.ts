/** The parameters with which a language server is initialised. */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { openToy, toyServer } from "./kit.ts";

test("a server is initialised with the project, its options and what the client can do", async () => {
  const { session, cwd } = await openToy("good", {
    servers: { toy: { ...toyServer("good"), initOptions: { deep: { level: 2 } } } },
  });
  const { client } = await session.openFile("a.toy", { timeoutMs: 60_000 });
  const rootUri = pathToFileURL(cwd).href;
  expect(await client.request("toy/hello", {}, { timeoutMs: 60_000 })).toMatchObject({
    processId: null,
    rootUri,
    rootPath: cwd,
    workspaceFolders: [{ uri: rootUri, name: basename(cwd) }],
    initializationOptions: { deep: { level: 2 } },
    capabilities: {
      textDocument: {
        synchronization: { didSave: true, dynamicRegistration: false },
        hover: { contentFormat: ["markdown", "plaintext"] },
        definition: { dynamicRegistration: false, linkSupport: true },
        typeDefinition: { dynamicRegistration: false, linkSupport: true },
        implementation: { dynamicRegistration: false, linkSupport: true },
        references: { dynamicRegistration: false },
        documentSymbol: {
          hierarchicalDocumentSymbolSupport: true,
          symbolKind: { valueSet: expect.any(Array) as unknown },
        },
        rename: { prepareSupport: true },
        codeAction: { resolveSupport: { properties: ["edit"] } },
        formatting: { dynamicRegistration: false },
        rangeFormatting: { dynamicRegistration: false },
        publishDiagnostics: { relatedInformation: true, versionSupport: true, tagSupport: { valueSet: [1, 2] } },
      },
      window: { workDoneProgress: true },
      workspace: {
        applyEdit: true,
        workspaceEdit: { documentChanges: true, failureHandling: "textOnlyTransactional" },
        configuration: true,
        fileOperations: { willRename: true, didRename: true },
      },
      experimental: { snippetTextEdit: true },
    },
  });
});
