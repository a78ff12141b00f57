/**
 * Builds the program `tau` to `packages/cli/dist/`: `tau.cjs`, the small first stage, `program.cjs`, which is all of our
 * code and what it needs from npm in one CommonJS file, and the catalogue of models beside it.
 * Why it is made like this: docs/decisions/0011-how-the-program-starts.md.
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { directImports } from "./direct-imports.mjs";

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

/** Returns what went into the program, file by file. */
export async function buildProgram(outdir = join(directory, "dist")) {
  const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const { outputFiles, metafile } = await build({
    ...shared,
    entryPoints: [join(directory, "src", "bin.ts")],
    external,
    metafile: true,
    // A function, so that it can be compiled in more than one way and is not copied to be wrapped.
    banner: { js: "globalThis.tauProgram=function(exports,require,module,__filename,__dirname){" },
    footer: { js: "};" },
    // What is loaded late is required late: no file of ours is a module for `import`.
    supported: { "dynamic-import": false },
    // Only `createRequire` asks where a module is, and takes a path.
    define: { "import.meta.url": "__filename" },
    plugins: [lateSchemaEngine, directImports],
  });
  const start = await build({
    ...shared,
    entryPoints: [join(directory, "src", "start.ts")],
    banner: { js: "#!/usr/bin/env node" },
    define: { tauHelpText: JSON.stringify(await helpText()), tauVersion: JSON.stringify(version) },
  });
  mkdirSync(outdir, { recursive: true });
  rmSync(join(outdir, "catalog"), { recursive: true, force: true });
  cpSync(join(root, "packages", "ai", "catalog"), join(outdir, "catalog"), { recursive: true });
  writeFileSync(join(outdir, "program.cjs"), noteRooms(outputFiles[0].text));
  writeFileSync(join(outdir, "tau.cjs"), start.outputFiles[0].text);
  chmodSync(join(outdir, "tau.cjs"), 0o755);
  return Object.keys(metafile.inputs);
}

/** The engine is more code than all that starts the program, and is asked synchronously: a `require` where it is used. */
const lateSchemaEngine = {
  name: "late-schema-engine",
  setup(bundler) {
    bundler.onResolve({ filter: /^#schema-engine$/ }, () => ({ path: "schema-engine", namespace: "late" }));
    bundler.onLoad({ filter: /.*/, namespace: "late" }, () => ({
      contents: ["Check", "Compile"]
        .map((name) => `export const ${name} = (...given) => require("./engine.ts").${name}(...given);`)
        .join("\n"),
      resolveDir: join(root, "packages", "ai", "src", "schema"),
    }));
  },
};

/** Makes the function that loads a module write down its name, so that the code cache knows what it holds. */
function noteRooms(text) {
  const loads = "fn&&(res=(0,fn[__getOwnPropNames(fn)[0]])(fn=0))";
  if (!text.includes(loads)) throw new Error("esbuild loads modules in another way now: change noteRooms in this file");
  return text.replace(loads, "fn&&(globalThis.tauRooms?.add(__getOwnPropNames(fn)[0]),res=(0,fn[__getOwnPropNames(fn)[0]])(fn=0))");
}

/** As the program itself would make it. */
async function helpText() {
  const { outputFiles } = await build({
    ...shared,
    format: "esm",
    stdin: {
      contents: `import { commands } from "./commands/index.ts"; import { helpText } from "./help.ts"; export const text = helpText(commands);`,
      resolveDir: join(directory, "src"),
    },
    packages: "external",
    plugins: [leaveLate],
  });
  const { text } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
  return text;
}

/** The help needs the tables alone, not what the commands load. */
const leaveLate = {
  name: "leave-late",
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, ({ kind }) => (kind === "dynamic-import" ? { path: "node:fs", external: true } : undefined));
  },
};
