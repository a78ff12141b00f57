/**
 * Builds the program `tau` to `packages/cli/dist/`: `tau.cjs`, the small first stage, `program.cjs`, which is all of our
 * code and what it needs from npm in one CommonJS file, and the catalogue of models beside it.
 * Why it is made like this: docs/decisions/0011-how-the-program-starts.md.
 */
import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { directImports } from "./direct-imports.mjs";
import { linkChunks } from "./link-chunks.mjs";

const root = join(import.meta.dirname, "..");
const directory = join(root, "packages", "cli");

/** Installed beside the program, because they are no JavaScript, or only there if the person wants them. */
export const besides = ["@vscode/ripgrep", "@silvia-odwyer/photon-node"];
const external = [...besides, "@opentelemetry/api"];

const shared = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  format: "cjs",
  platform: "node",
  target: "node20",
  mainFields: ["module", "main"],
  conditions: ["@tau/source"],
  // ASCII alone: the loader reads it as one byte a character.
  charset: "ascii",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
};

const oneFile = {
  external,
  metafile: true,
  // Every name is one more string for V8 to read at each start.
  minifyIdentifiers: true,
  // Only `createRequire` asks where a module is, and takes a path.
  define: { "import.meta.url": "__filename" },
};

/**
 * Files of their own, because most runs do without: a file costs time for every function in it, used or not. Each name
 * is what our code imports, with what that means.
 */
const parts = {
  yaml: "yaml",
  "google-auth-library": "google-auth-library",
  "schema-engine": "./packages/ai/src/schema/engine.ts",
};

/** Returns what went into the program, file by file. */
export async function buildProgram(outdir = join(directory, "dist")) {
  const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  mkdirSync(outdir, { recursive: true });
  const hashes = {};
  const write = (name, text) => {
    hashes[name] = createHash("sha256").update(text).digest("hex").slice(0, 16);
    writeFileSync(join(outdir, `${name}.cjs`), text);
  };
  const program = await buildChunks("packages/cli/src/bin.ts");
  write("program", program.text);
  const inputs = [...program.inputs];
  for (const [name, entry] of Object.entries(parts)) {
    const part = await buildPart(entry);
    write(name, part.text);
    inputs.push(...part.inputs);
  }
  const { text, commands } = await commandTable();
  const start = await build({
    ...shared,
    entryPoints: [join(directory, "src", "start.ts")],
    banner: { js: "#!/usr/bin/env node" },
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
  return inputs;
}

/** The program, in chunks: what is imported late is loaded late. */
async function buildChunks(entry) {
  const built = await build({
    ...shared,
    ...oneFile,
    entryPoints: [entry],
    outdir: directory,
    splitting: true,
    format: "esm",
    plugins: [otherFiles, directImports, lateBuiltIns],
  });
  return { text: wrap(linkChunks(built, entry)), inputs: Object.keys(built.metafile.inputs) };
}

/** A part is always needed whole. */
async function buildPart(entry) {
  const { outputFiles, metafile } = await build({ ...shared, ...oneFile, entryPoints: [entry] });
  return { text: wrap(outputFiles[0].text), inputs: Object.keys(metafile.inputs) };
}

/** A function, so that it can be compiled in more than one way and is not copied to be wrapped. */
const wrap = (text) => `globalThis.tauFile=function(exports,require,module,__filename,__dirname){${text}};`;

/** The parts stay outside. The schema engine is asked synchronously, and required where it is first used. */
const otherFiles = {
  name: "other-files",
  setup(bundler) {
    bundler.onResolve({ filter: /^(yaml|google-auth-library)$/ }, ({ path }) => ({
      path: `./${path}.cjs`,
      external: true,
    }));
    // Its formatter prepares texts when it is loaded, whether or not anything is formatted.
    bundler.onResolve({ filter: /^\.\/impl\/(format|edit)$/ }, ({ path, resolveDir }) =>
      resolveDir.includes("jsonc-parser") ? { path: join(resolveDir, `${path}.js`), sideEffects: false } : undefined,
    );
    bundler.onResolve({ filter: /^#schema-engine$/ }, () => ({ path: "schema-engine", namespace: "late" }));
    bundler.onLoad({ filter: /.*/, namespace: "late" }, () => ({
      contents: ["Check", "Compile"]
        .map((name) => `export const ${name} = (...given) => require("./schema-engine.cjs").${name}(...given);`)
        .join("\n"),
    }));
    bundler.onResolve({ filter: /^\.\/schema-engine\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** Node's own modules that cost a millisecond or more, and that many runs only name: loaded where something of them is used. */
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

/** The names of the commands, and the help text as the program itself would make it. */
async function commandTable() {
  const { outputFiles } = await build({
    ...shared,
    format: "esm",
    stdin: {
      contents: `import { commands } from "./commands/index.ts"; import { helpText } from "./help.ts"; export const text = helpText(commands), names = commands.map(({ name }) => name);`,
      resolveDir: join(directory, "src"),
    },
    packages: "external",
    plugins: [leaveLate],
  });
  const { text, names } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`
  );
  return { text, commands: names };
}

/** The help needs the tables alone, not what the commands load. */
const leaveLate = {
  name: "leave-late",
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "node:fs", external: true } : undefined,
    );
  },
};
