/**
 * Packs the program as npm would publish it: `node scripts/pack-cli.mjs [DIRECTORY]` builds it and prints the path of the
 * archive. It contains our packages and their dependencies; native dependencies are declared and pinned.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildPage } from "./build-page.mjs";
import { buildProgram, nativeDependencies } from "./build-program.mjs";
import { buildSandboxHelper } from "./build-sandbox-helper.mjs";

const root = join(import.meta.dirname, "..");
const cli = join(root, "packages", "cli");
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);

/** Returns the archive's path. */
export async function packCli(directory) {
  const stage = mkdtempSync(join(tmpdir(), "tau-pack-"));
  try {
    for (const name of ["README.md", "LICENSE"]) cpSync(join(cli, name), join(stage, name));
    // The program takes what is there of them, and works without.
    buildSandboxHelper();
    if (!existsSync(join(root, "packages", "web", "dist"))) await buildPage();
    const inputs = await buildProgram(join(stage, "dist"));
    const manifest = packedManifest(readJson(join(cli, "package.json")));
    writeJson(join(stage, "package.json"), manifest);
    writeJson(join(stage, "npm-shrinkwrap.json"), shrinkwrap(manifest));
    writeFileSync(join(stage, "THIRD-PARTY.md"), notices(inputs));
    mkdirSync(directory, { recursive: true });
    // npm prints the name of the archive on its last line.
    const output = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory], {
      cwd: stage,
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    return join(directory, output.trim().split("\n").at(-1));
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The package is a program, not a library: nothing can be imported from it. */
function packedManifest({ name, version, description, license, bin, man, type, imports, engines }) {
  const [tools, features] = ["tools", "features"].map((each) => readJson(join(root, "packages", each, "package.json")));
  const wanted = { ...tools.dependencies, ...features.dependencies };
  return {
    name,
    version,
    description,
    license,
    bin,
    man,
    type,
    imports,
    exports: { "./package.json": "./package.json" },
    files: ["dist", "THIRD-PARTY.md", "npm-shrinkwrap.json"],
    dependencies: Object.fromEntries(nativeDependencies.map((dependency) => [dependency, wanted[dependency]])),
    // The key chain of the operating system and the parser of source files. Our own packages are in the program.
    optionalDependencies: Object.assign(
      {},
      ...["config", "features"].map(
        (name) => readJson(join(root, "packages", name, "package.json")).optionalDependencies,
      ),
    ),
    engines,
  };
}

/** The dependencies and theirs, as our lock file pins them. It names no registry, so npm asks the configured one. */
function shrinkwrap({ name, version, license, bin, dependencies, optionalDependencies, engines }) {
  const locked = readJson(join(root, "package-lock.json")).packages;
  const wanted = new Map();
  const add = (dependency) => {
    const path = `node_modules/${dependency}`;
    const { funding: _funding, ...entry } = locked[path] ?? {};
    if (!entry.version) throw new Error(`package-lock.json has no ${dependency} at its root: install, and pack again`);
    if (wanted.has(path)) return;
    wanted.set(path, entry);
    for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) add(next);
  };
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) add(dependency);
  const own = { name, version, license, dependencies, optionalDependencies, bin, engines };
  const entries = [...wanted].sort(([a], [b]) => (a < b ? -1 : 1));
  return { name, version, lockfileVersion: 3, requires: true, packages: Object.fromEntries([["", own], ...entries]) };
}

/** The licences of the bundled packages. */
function notices(inputs) {
  const names = inputs.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const packages = [...new Set(names)].filter((name) => name !== undefined).sort();
  const parts = packages.map((name) => {
    const directory = join(root, "node_modules", name);
    const { version, license } = readJson(join(directory, "package.json"));
    const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file && existsSync(join(directory, file)) ? readFileSync(join(directory, file), "utf8").trim() : "";
    return `## ${name} ${version} (${license})\n\n${text}`.trim();
  });
  return `# Third-party packages\n\nThe program contains these packages.\n\n${parts.join("\n\n")}\n`;
}

if (process.argv[1] === import.meta.filename) {
  console.log(await packCli(resolve(process.argv[2] ?? ".")));
}
