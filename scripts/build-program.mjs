/**
 * Builds the program `tau` to `packages/cli/dist/`: `tau.cjs`, the small first stage; `program.cjs`, our code and its
 * dependencies in one CommonJS file, with a source map; a few files that many runs do without; and the catalogue of models.
 * Why: docs/decisions/performance.md.
 */
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { build } from "esbuild";
import { childSource, writePiModules } from "./build-pi-modules.mjs";
import { directImports } from "./direct-imports.mjs";
import { linkChunks } from "./link-chunks.mjs";

const root = join(import.meta.dirname, "..");
const directory = join(root, "packages", "cli");

/** Installed next to the program, because they are not JavaScript. */
export const nativeDependencies = ["@vscode/ripgrep", "@silvia-odwyer/photon-node", "quickjs-wasi", "web-tree-sitter"];
/** The key chain is used if it could be installed, OpenTelemetry if the user has installed it. */
const external = [...nativeDependencies, "@napi-rs/keyring", "@opentelemetry/api"];

const shared = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  format: "cjs",
  platform: "node",
  target: "node20",
  mainFields: ["module", "main"],
  conditions: ["@tau/source"],
  // The loader reads the files as Latin-1.
  charset: "ascii",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
};

const bundleOptions = {
  external,
  metafile: true,
  // Each name is a string that V8 reads from the code cache at each start.
  minifyIdentifiers: true,
  // Only `createRequire` uses it, and it takes a path too.
  define: { "import.meta.url": "__filename" },
};

/** Files of their own, because most runs do without. From the name of each file to its entry. */
const parts = {
  yaml: "yaml",
  ws: "ws",
  "google-auth-library": "google-auth-library",
  "schema-engine": "./packages/ai/src/schema/engine.ts",
  interactive: "./packages/cli/src/interactive/index.ts",
  typebox: "./packages/extensions/src/load/typebox.ts",
};

/**
 * Files besides `program.cjs` for what dynamic imports load: from the name of each to a pattern for their entries. A run
 * that answers without calling a tool reads neither these files nor their code caches.
 */
const chunkFiles = {
  tools: /^packages\/(tools\/src\/(files|hashline|search|shell)|sandbox\/src|policy\/src\/exec)\//,
  // Few runs read anything but texts.
  documents: /^packages\/tools\/src\/(documents|pdf)\//,
  gateway: /^packages\/(gateway\/src\/(?!channels\/(discord|slack)\/)|cli\/src\/(gateway|commands\/gateway))/,
  // Each library of a platform, with what uses it: only gateways with an account of it read it.
  discord: /^packages\/gateway\/src\/channels\/discord\//,
  slack: /^packages\/gateway\/src\/channels\/slack\//,
  // Most gateways are alone.
  cluster: /^packages\/cluster\/src\//,
  // The cache of an extension that has not changed does without.
  compiler: /^node_modules\/sucrase\//,
  extensions: /^packages\/(extensions\/src\/(?!pipeline)|pi\/src)\//,
  // Each feature is read when it is first used.
  "feature-codemode": /^packages\/features\/src\/codemode\/codemode/,
  "feature-todo": /^packages\/features\/src\/todo\/todo/,
  "feature-mcp": /^packages\/features\/src\/mcp\/(mcp|program)\.ts$/,
  // The library of MCP is large, and only runs that connect to a server need it.
  "mcp-client": /^packages\/features\/src\/mcp\/connection/,
  // Few extensions create sessions of their own.
  "pi-sdk": /^packages\/pi-sdk\/src\//,
  commands:
    /^packages\/(cli\/src\/(commands\/|start\/show-help|hosting\/named-packages|modes\/run-terminal)|harness\/src\/export\/|config\/src\/installs\/|markdown\/src\/lex-markdown)/,
  // After the commands, which would otherwise have to load it for what both use.
  acp: /^packages\/cli\/src\/(acp|mcp-serve|json-rpc)\//,
};

/** Returns the paths of all files that went into the program. */
export async function buildProgram(outdir = join(directory, "dist")) {
  const { version, engines } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  mkdirSync(outdir, { recursive: true });
  const hashes = {};
  const write = (name, text) => {
    hashes[name] = createHash("sha256").update(text).digest("hex").slice(0, 16);
    writeFileSync(join(outdir, `${name}.cjs`), text);
  };
  const { files, inputs } = await buildChunks("packages/cli/src/start/bin.ts");
  for (const [name, { text, map }] of files) {
    write(name, wrap(text));
    writeFileSync(join(outdir, `${name}.cjs.map`), map);
  }
  for (const [name, entry] of Object.entries(parts)) {
    const part = await buildPart(entry);
    write(name, part.text);
    inputs.push(...part.inputs);
  }
  inputs.push(...(await buildChild(join(outdir, "extension-child.cjs"))));
  writePiModules(outdir);
  const { text, commands, manual } = await commandTable(version);
  const start = await build({
    ...shared,
    entryPoints: [join(directory, "src", "start", "start.ts")],
    // Every Node must be able to parse the file that refuses old ones.
    target: "es2015",
    banner: { js: `#!/usr/bin/env node\n${refuseOldNode(engines.node)}` },
    define: {
      tauHelpText: JSON.stringify(text),
      tauCommands: JSON.stringify(commands),
      tauVersion: JSON.stringify(version),
      tauHashes: JSON.stringify(hashes),
    },
  });
  writeFileSync(join(outdir, "tau.cjs"), start.outputFiles[0].text);
  chmodSync(join(outdir, "tau.cjs"), 0o755);
  rmSync(join(outdir, "catalog"), { recursive: true, force: true });
  cpSync(join(root, "packages", "ai", "catalog"), join(outdir, "catalog"), { recursive: true });
  rmSync(join(outdir, "sandbox-helper"), { recursive: true, force: true });
  const helper = join(root, "packages", "sandbox", "dist", "helper");
  if (existsSync(helper)) cpSync(helper, join(outdir, "sandbox-helper"), { recursive: true });
  rmSync(join(outdir, "page"), { recursive: true, force: true });
  const page = join(root, "packages", "web", "dist");
  if (existsSync(page)) cpSync(page, join(outdir, "page"), { recursive: true });
  // What the page contains, for the notices.
  inputs.push(...["marked", "preact"].map((name) => `node_modules/${name}/package.json`));
  cpSync(join(root, "CHANGELOG.md"), join(outdir, "CHANGELOG.md"));
  copyDocuments(outdir);
  mkdirSync(join(outdir, "man"), { recursive: true });
  writeFileSync(join(outdir, "man", "tau.1"), manual);
  return inputs;
}

/**
 * Copies the pages that `tau help TOPIC` prints and models answer from. The reasons for decisions are for those who
 * have the sources.
 */
function copyDocuments(outdir) {
  for (const name of ["docs", "examples"]) {
    rmSync(join(outdir, name), { recursive: true, force: true });
    const decisions = join(root, "docs", "decisions");
    cpSync(join(root, name), join(outdir, name), { recursive: true, filter: (path) => path !== decisions });
  }
}

/** Code that runs before anything is loaded, because old versions of Node do not have every module. */
function refuseOldNode(range) {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(range);
  return [
    "var tauNode=process.versions.node.split('.').map(Number);",
    `if(tauNode[0]<${major}||(tauNode[0]===${major}&&tauNode[1]<${minor})){`,
    `console.error('tau: Node.js ${major}.${minor} or newer is needed; this is '+process.versions.node+'.');process.exit(1)}`,
  ].join("");
}

/** Builds files whose dynamic imports are loaded when they are reached. */
async function buildChunks(entry) {
  const built = await build({
    ...shared,
    ...bundleOptions,
    entryPoints: [entry],
    outdir: directory,
    splitting: true,
    format: "esm",
    plugins: [otherFiles, directImports, discordLibrary, lateBuiltIns],
    sourcemap: "external",
    sourcesContent: false,
  });
  const files = linkChunks(built, entry, {
    files: chunkFiles,
    toSource: (source) => posix.join("packages/cli", source),
  });
  return { files, inputs: Object.keys(built.metafile.inputs) };
}

/** Builds a file that is loaded as a whole. */
async function buildPart(entry) {
  const { outputFiles, metafile } = await build({
    ...shared,
    ...bundleOptions,
    entryPoints: [entry],
    plugins: [directImports, lateMarkdown, lateBuiltIns],
  });
  return { text: wrap(outputFiles[0].text), inputs: Object.keys(metafile.inputs) };
}

/** A program of its own, which Node runs as it is: it sees this one file. */
async function buildChild(outfile) {
  const { outputFiles, metafile } = await build({
    ...shared,
    ...bundleOptions,
    stdin: { contents: childSource, resolveDir: join(directory, "src"), sourcefile: "extension-child.js" },
    // What it replaces in Node's modules has to be replaced in these themselves.
    plugins: [directImports, lateMarkdown],
  });
  writeFileSync(outfile, outputFiles[0].text);
  return Object.keys(metafile.inputs);
}

/** The loader calls the function with what Node gives to a CommonJS module. */
const wrap = (text) => `globalThis.tauFile=function(exports,require,module,__filename,__dirname){${text}};`;

/** Leaves the parts out of the program. The schema engine is synchronous, so its functions load it when they are called. */
const otherFiles = {
  name: "other-files",
  setup(bundler) {
    bundler.onResolve({ filter: /^(yaml|google-auth-library|ws)$/ }, ({ path }) => ({
      path: `./${path}.cjs`,
      external: true,
    }));
    bundler.onResolve({ filter: /\/interactive\/index\.ts$/ }, () => ({ path: "./interactive.cjs", external: true }));
    // Extensions draw with the terminal that is there: its keys, themes and capabilities are state of the library.
    bundler.onResolve({ filter: /^@tau\/tui$/ }, () => ({ path: "./interactive.cjs", external: true }));
    // Extensions get the whole library. Sharing a copy with the tools' few schemas would load all of it at every start.
    bundler.onResolve({ filter: /\/typebox\.ts$/ }, () => ({ path: "./typebox.cjs", external: true }));
    bundler.onResolve({ filter: /^typebox$/ }, ({ path, importer }) =>
      importer.includes("/packages/pi/") ? { path, namespace: "whole-typebox" } : undefined,
    );
    bundler.onLoad({ filter: /.*/, namespace: "whole-typebox" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== "default");
      return {
        contents: `import { modules } from "./typebox.cjs"; export const { ${names.join(", ")} } = modules.typebox;`,
      };
    });
    bundler.onResolve({ filter: /^\.\/typebox\.cjs$/ }, ({ path }) => ({ path, external: true }));
    // jsonc-parser does not declare that its formatter has no side effects.
    bundler.onResolve({ filter: /^\.\/impl\/(format|edit)$/ }, ({ path, resolveDir }) =>
      resolveDir.includes("jsonc-parser") ? { path: join(resolveDir, `${path}.js`), sideEffects: false } : undefined,
    );
    bundler.onResolve({ filter: /^#schema-engine$/ }, () => ({ path: "schema-engine", namespace: "late" }));
    bundler.onLoad({ filter: /.*/, namespace: "late" }, () => ({
      contents: ["Check", "Compile"]
        .map((name) => `export const ${name} = (...args) => require("./schema-engine.cjs").${name}(...args);`)
        .join("\n"),
    }));
    bundler.onResolve({ filter: /^\.\/schema-engine\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
};

/**
 * Takes the build of Discord's REST library that brings no HTTP client, because we give it Node's own. Its socket library
 * reads its own address as a URL, and asks for a native module that is used only for compression, which we do not ask for.
 */
const discordLibrary = {
  name: "discord-library",
  setup(bundler) {
    bundler.onResolve({ filter: /^@discordjs\/rest$/ }, () => ({
      path: join(root, "node_modules", "@discordjs", "rest", "dist", "web.mjs"),
      sideEffects: false,
    }));
    bundler.onResolve({ filter: /^zlib-sync$/ }, ({ path }) => ({ path, external: true }));
    bundler.onLoad({ filter: /@discordjs[\\/]ws[\\/]dist[\\/]index\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace("fileURLToPath(import.meta.url)", () => "__filename"),
    }));
  },
};

/**
 * Loads the Markdown parser with the first text: it builds a hundred regular expressions. Its classes are remembered, because
 * each `require` of a bundled module creates a new object with all its exports.
 */
const lateMarkdown = {
  name: "late-markdown",
  setup(bundler) {
    bundler.onResolve({ filter: /^marked$/ }, ({ path, namespace }) =>
      namespace === "late-markdown" ? undefined : { path, namespace: "late-markdown" },
    );
    bundler.onLoad({ filter: /.*/, namespace: "late-markdown" }, () => ({
      contents: `let Lexer, Tokenizer; module.exports = {
        get Lexer() { return (Lexer ??= require("marked").Lexer); },
        get Tokenizer() { return (Tokenizer ??= require("marked").Tokenizer); },
      };`,
      resolveDir: join(root, "packages", "markdown"),
    }));
  },
};

/** Makes imports of Node's modules that take long to load into objects whose getters load them. */
const lateBuiltIns = {
  name: "late-built-ins",
  setup(bundler) {
    const filter = /^node:(child_process|crypto|fs\/promises|https|tls|worker_threads)$/;
    bundler.onResolve({ filter }, ({ path, namespace, kind }) =>
      namespace === "built-in" || kind === "dynamic-import" ? undefined : { path, namespace: "built-in" },
    );
    bundler.onLoad({ filter: /.*/, namespace: "built-in" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== "default");
      const getters = names.map((name) => `get ${name}() { return require("${path}").${name}; }`);
      return { contents: `module.exports = { ${getters.join(", ")} };` };
    });
  },
};

/** Runs the code of the program itself to get the help text, the manual page and the names of the commands. */
async function commandTable(version) {
  const { outputFiles } = await build({
    ...shared,
    format: "esm",
    stdin: {
      contents: `
        import { commands } from "./commands/index.ts";
        import { helpText } from "./start/help.ts";
        import { manualPage } from "./start/manual-page.ts";
        export const text = helpText(commands);
        export const names = [...commands.map(({ name }) => name), "__complete"];
        export const manual = manualPage(commands, ${JSON.stringify(version)});
      `,
      resolveDir: join(directory, "src"),
    },
    plugins: [skipDynamicImports],
  });
  const { text, names, manual } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`
  );
  return { text, commands: names, manual };
}

/** The help needs the tables only, not what the commands import. */
const skipDynamicImports = {
  name: "skip-dynamic-imports",
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "node:fs", external: true } : undefined,
    );
  },
};
