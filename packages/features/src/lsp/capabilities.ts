/** The capabilities that tau reports to servers when it initialises them. */

const kinds = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

export const clientCapabilities = {
  general: { positionEncodings: ["utf-16", "utf-8", "utf-32"] },
  textDocument: {
    synchronization: { didSave: true, dynamicRegistration: false },
    hover: { contentFormat: ["markdown", "plaintext"] },
    definition: { dynamicRegistration: false, linkSupport: true },
    typeDefinition: { dynamicRegistration: false, linkSupport: true },
    implementation: { dynamicRegistration: false, linkSupport: true },
    references: { dynamicRegistration: false },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true, symbolKind: { valueSet: kinds(26) } },
    rename: { prepareSupport: true },
    codeAction: {
      codeActionLiteralSupport: {
        codeActionKind: {
          valueSet: [
            "",
            "quickfix",
            "refactor",
            "refactor.extract",
            "refactor.inline",
            "refactor.rewrite",
            "source",
            "source.organizeImports",
            "source.fixAll",
          ],
        },
      },
      dataSupport: true,
      resolveSupport: { properties: ["edit"] },
    },
    formatting: { dynamicRegistration: false },
    rangeFormatting: { dynamicRegistration: false },
    publishDiagnostics: { relatedInformation: true, versionSupport: true, tagSupport: { valueSet: [1, 2] } },
    diagnostic: { dynamicRegistration: true, relatedDocumentSupport: true },
  },
  window: { workDoneProgress: true },
  workspace: {
    applyEdit: true,
    workspaceEdit: {
      documentChanges: true,
      resourceOperations: ["create", "rename", "delete"],
      failureHandling: "textOnlyTransactional",
    },
    configuration: true,
    workspaceFolders: true,
    symbol: { symbolKind: { valueSet: kinds(26) } },
    fileOperations: { willRename: true, didRename: true },
  },
  experimental: { snippetTextEdit: true },
} as const;
