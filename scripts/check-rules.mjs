/**
 * Checks what the linter cannot: which package imports which, that nothing reaches outside the repository, how doc comments
 * begin, that every export has a use, and that the lock file names no registry and has every package that any platform needs.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { findUnusedExports } from "./unused-exports.mjs";

const root = join(import.meta.dirname, "..");

/** A package imports only what stands before it, types included: ARCHITECTURE.md says what each is for. */
const order = [
  "ai",
  "agent",
  "protocol",
  "tools",
  "markdown",
  "sandbox",
  "policy",
  "config",
  "extensions",
  "harness",
  "features",
  "tui",
  "pi",
  "pi-sdk",
  "gateway",
  "cluster",
  "cli",
];

/** Packages that see less than the order allows: those that run in browsers, know no agents, or serve strangers. */
const seesOnly = {
  protocol: ["ai"],
  markdown: [],
  sandbox: ["ai", "protocol", "tools"],
  features: ["ai", "agent", "protocol", "tools", "markdown", "sandbox", "policy", "config", "extensions"],
  tui: ["markdown"],
  web: ["protocol", "markdown"],
  react: ["protocol"],
};

/** Packages that only `cli` and those listed may import. */
const importedOnlyBy = { tui: ["pi", "pi-sdk"], pi: ["pi-sdk"], "pi-sdk": [], gateway: ["cluster"], cluster: [] };

/** A doc comment begins with a verb or names its subject, so that it stands alone. These words do neither. */
const commentOpening = /\/\*\*\s*(?:\*\s*)?(What|Of|One|The same|As|Those)\b/g;

const problems = [];
const texts = new Map(sourceFiles(root).map((file) => [file, readFileSync(file, "utf8")]));
for (const name of readdirSync(join(root, "packages"))) checkPackage(name);
for (const [file, text] of texts) {
  checkReach(file, text);
  checkComments(file, text);
}
checkTerminal();
checkExports();
checkLock();

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function checkPackage(name) {
  if (!order.includes(name) && !seesOnly[name]) return void problems.push(`packages/${name}: stands in no order`);
  const allowed = seesOnly[name] ?? order.slice(0, order.indexOf(name)).filter((other) => maySee(name, other));
  const directory = join(root, "packages", name);
  const declared = getDependencies(directory);
  for (const [file, text] of textsIn(join(directory, "src"))) {
    for (const specifier of getImports(text)) {
      const other = /^@tau\/([a-z-]+)/.exec(specifier)?.[1];
      if (other && other !== name && !allowed.includes(other)) report(file, `may not import @tau/${other}`);
      if (other && other !== name && !declared.has(`@tau/${other}`) && !file.endsWith(".test.ts"))
        report(file, `imports @tau/${other}, which its package.json does not name`);
      if (name === "features" && /^(node:)?child_process$/.test(specifier))
        report(file, "may not start programs itself: the API of extensions does, where the session wants them");
      const feature = name === "features" && findOtherFeature(file, specifier);
      if (feature) report(file, `may not import the feature ${feature}: what both need belongs to src/kit`);
      if (specifier.startsWith("@nats-io/") && name !== "cluster")
        report(file, "may not import NATS: @tau/cluster does");
      if (specifier.startsWith(".") && !resolve(dirname(file), specifier).startsWith(directory + sep)) {
        report(file, `reaches out of its package with ${specifier}`);
      }
    }
  }
}

/** Packages that the manifest names: the build bundles a copy of each other one that is imported. */
function getDependencies(directory) {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return new Set(
    Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies }),
  );
}

/**
 * The feature that a file of another one imports; undefined if there is none. Each can be left out, so that they share only `kit`.
 * The files beside their directories list them all.
 */
function findOtherFeature(file, specifier) {
  if (!specifier.startsWith(".")) return undefined;
  const features = join(root, "packages", "features", "src");
  const getFeature = (path) => relative(features, path).split(sep).slice(0, -1)[0];
  const [own, other] = [getFeature(file), getFeature(resolve(dirname(file), specifier))];
  return own && other && other !== ".." && other !== own && other !== "kit" ? other : undefined;
}

function maySee(name, other) {
  return name === "cli" || (importedOnlyBy[other]?.includes(name) ?? true);
}

/** The terminal knows a session only through commands and events, so that it can show one of another machine. */
function checkTerminal() {
  for (const [file, text] of textsIn(join(root, "packages", "cli", "src", "interactive"))) {
    const hasValues = /^import (?!type )[^;]*? from "@tau\/harness/m.test(text);
    if (hasValues) report(file, "may import only types of @tau/harness");
  }
}

function checkReach(file, text) {
  if (/["'`(/]\.\.\/shared\b/.test(text) && file !== import.meta.filename)
    report(file, "reads what is outside the repository");
}

function checkComments(file, text) {
  for (const { index, 1: opening } of text.matchAll(commentOpening)) {
    const line = text.slice(0, index).split("\n").length;
    problems.push(
      `${relative(root, file)}:${line}: a comment begins with "${opening}"; begin with a verb or name its subject`,
    );
  }
}

/** An export is a promise to other modules. Without one that uses it, it hides code that nothing needs. */
function checkExports() {
  for (const { file, line, name } of findUnusedExports(root, texts))
    problems.push(`${relative(root, file)}:${line}: no other file imports ${name}; remove its export, or the code`);
}

function checkLock() {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (/^https?:/.test(entry.resolved ?? "")) problems.push(`package-lock.json: ${path} names a registry`);
    const wanted = [...Object.keys(entry.dependencies ?? {}), ...Object.keys(entry.optionalDependencies ?? {})];
    for (const dependency of wanted) {
      if (!isLocked(lock.packages, path, dependency))
        problems.push(`package-lock.json: ${dependency}, wanted by ${path}, is missing`);
    }
  }
}

/** npm looks for a dependency beside the package, then in each folder above it. */
function isLocked(packages, path, dependency) {
  for (let at = path; ; at = at.replace(/\/?(node_modules\/)?[^/]*$/, "")) {
    if (packages[`${at ? `${at}/` : ""}node_modules/${dependency}`]) return true;
    if (!at) return false;
  }
}

function getImports(text) {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1]);
}

function sourceFiles(directory) {
  return readdirSync(directory).flatMap((name) => {
    if (name === "node_modules" || name === "dist" || name.startsWith(".")) return [];
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return sourceFiles(path);
    return /\.(ts|tsx|mjs|js|sh)$/.test(name) ? [path] : [];
  });
}

function textsIn(directory) {
  return [...texts].filter(([file]) => file.startsWith(directory + sep));
}

function report(file, what) {
  problems.push(`${relative(root, file)}: ${what}`);
}
