/**
 * An esbuild plugin that turns imports from a package's index into imports from the files behind it. When esbuild splits
 * a program into chunks, a chunk that imports an index gets every file that the index names, used or not.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const packages = ["ai", "agent", "tools", "protocol", "harness"];
const exportsByPackage = new Map(
  packages.map((name) => [`@tau/${name}`, readExports(join(root, "packages", name, "src", "index.ts"))]),
);

export const directImports = {
  name: "direct-imports",
  setup(bundler) {
    bundler.onLoad({ filter: /packages[\\/][a-z]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: rewriteImports(readFileSync(path, "utf8")),
      loader: "ts",
    }));
  },
};

/** Rewrites `import { … } from "@tau/…"` and `const { … } = await import("@tau/…")`, and no other form. */
function rewriteImports(source) {
  return source
    .replaceAll(/^import \{([^}]*)\} from "(@tau\/[a-z]+)";$/gm, (statement, names, from) => {
      const lines = findFiles(names, from).map(([name, file]) => `import { ${name} } from ${JSON.stringify(file)};`);
      // Keeps the number of lines.
      return lines.join(" ") + statement.replaceAll(/[^\n]/g, "");
    })
    .replaceAll(/\bconst \{([^}]*)\} = await import\("(@tau\/[a-z]+)"\);/g, (_, names, from) =>
      findFiles(names, from)
        .map(([name, file]) => `const { ${name} } = await import(${JSON.stringify(file)});`)
        .join(" "),
    );
}

function findFiles(names, from) {
  return splitValues(names).map((name) => {
    const file = exportsByPackage.get(from)?.get(name.split(" as ")[0]);
    if (file === undefined) throw new Error(`${from} does not export ${name}`);
    return [name, file];
  });
}

/** From each value that an index exports to its file. */
function readExports(index) {
  const statements = readFileSync(index, "utf8").matchAll(/^export \{([^}]*)\} from ["']([^"']+)["'];$/gm);
  return new Map(
    [...statements].flatMap(([, names, from]) => splitValues(names).map((name) => [name, join(dirname(index), from)])),
  );
}

/** Without types. */
function splitValues(names) {
  const trimmed = names.split(",").map((name) => name.trim());
  return trimmed.filter((name) => name !== "" && !name.startsWith("type "));
}
