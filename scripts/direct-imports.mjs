/**
 * For the bundler: imports from a package's front become imports from the files behind it. A bundle loads every file
 * that a front names, whether or not it is used; behind the front only what is used is loaded.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const packages = ["ai", "agent", "tools", "protocol", "harness"];
const fronts = new Map(packages.map((name) => [`@tau/${name}`, exportsOf(join(root, "packages", name, "src", "index.ts"))]));

export const directImports = {
  name: "direct-imports",
  setup(bundler) {
    bundler.onLoad({ filter: /packages[\\/][a-z]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: rewrite(readFileSync(path, "utf8")),
      loader: "ts",
    }));
    bundler.onResolve({ filter: /^typebox$/ }, ({ kind }) =>
      kind === "import-statement" ? { path: "typebox", namespace: "few" } : undefined,
    );
    bundler.onLoad({ filter: /.*/, namespace: "few" }, () => ({ contents: fewTypes(), resolveDir: root }));
  },
};

/** Only what is said in full: the names in the braces of `import { … } from "@tau/…"`. */
function rewrite(source) {
  return source.replaceAll(/^import \{([^}]*)\} from "(@tau\/[a-z]+)";$/gm, (whole, names, from) => {
    const front = fronts.get(from);
    const lines = split(names).flatMap((name) => {
      if (name.startsWith("type ")) return [];
      const file = front?.get(name.split(" as ")[0]);
      if (file === undefined) throw new Error(`${from} does not export ${name}`);
      return `import { ${name} } from ${JSON.stringify(file)};`;
    });
    // The lines below stay where they are.
    return lines.join(" ") + whole.replaceAll(/[^\n]/g, "");
  });
}

/** The types of a schema that our code names, without the language and the engine that come with the rest. */
function fewTypes() {
  const all = exportsOf(join(root, "node_modules", "typebox", "build", "typebox.mjs"));
  const sources = packages.flatMap((name) => filesIn(join(root, "packages", name, "src")));
  const used = new Set(sources.flatMap((file) => [...readFileSync(file, "utf8").matchAll(/\bType\.([A-Z]\w*)/g)].map(([, name]) => name)));
  const names = [...used].filter((name) => all.has(name)).sort();
  return [
    ...names.map((name) => `import { ${name} as ${name}Type } from ${JSON.stringify(all.get(name))};`),
    `export const Type = { ${names.map((name) => `${name}: ${name}Type`).join(", ")} };`,
  ].join("\n");
}

/** From each value that a front exports to the file where it is. */
function exportsOf(front) {
  const lines = readFileSync(front, "utf8").matchAll(/^export \{([^}]*)\} from ["']([^"']+)["'];$/gm);
  return new Map(
    [...lines].flatMap(([, names, from]) =>
      split(names)
        .filter((name) => !name.startsWith("type "))
        .map((name) => [name, join(dirname(front), from)]),
    ),
  );
}

function split(names) {
  const each = names.split(",").map((name) => name.trim());
  return each.filter((name) => name !== "");
}

function filesIn(directory) {
  const all = readdirSync(directory, { recursive: true });
  const own = all.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  return own.map((name) => join(directory, name));
}
