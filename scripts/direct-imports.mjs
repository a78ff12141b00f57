/**
 * For the bundler: imports from a package's front become imports from the files behind it. A bundle loads every file
 * that a front names, whether or not it is used; behind the front only what is used is loaded.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const packages = [
  "ai",
  "agent",
  "tools",
  "protocol",
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
];
const fronts = new Map(packages.flatMap(getFronts));

export const directImports = {
  name: "direct-imports",
  setup(bundler) {
    bundler.onLoad({ filter: /packages[\\/][a-z-]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: rewrite(readFileSync(path, "utf8")),
      loader: "ts",
    }));
  },
};

/** Only what is said in full: the names in the braces of `import { … } from "@tau/…"`, and the same of late imports. */
function rewrite(source) {
  return source
    .replaceAll(/^import \{([^}]*)\} from "(@tau\/[a-z-]+(?:\/[a-z-]+)?)";$/gm, (whole, names, from) => {
      const lines = getFiles(names, from).map(([name, file]) => `import { ${name} } from ${JSON.stringify(file)};`);
      // The lines below stay where they are.
      return lines.join(" ") + whole.replaceAll(/[^\n]/g, "");
    })
    .replaceAll(/\bconst \{([^}]*)\} = await import\("(@tau\/[a-z-]+(?:\/[a-z-]+)?)"\);/g, (_, names, from) =>
      getFiles(names, from)
        .map(([name, file]) => `const { ${name} } = await import(${JSON.stringify(file)});`)
        .join(" "),
    );
}

function getFiles(names, from) {
  const values = split(names).filter((name) => !name.startsWith("type "));
  return values.map((name) => {
    const file = fronts.get(from)?.get(name.split(" as ")[0]);
    if (file === undefined) throw new Error(`${from} does not export ${name}`);
    return [name, file];
  });
}

/** The public entries of a package, with what each exports. */
function getFronts(name) {
  const directory = join(root, "packages", name);
  const { exports } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return (
    Object.entries(exports)
      // The entries of single providers are for bundles of others.
      .filter(([path, entry]) => entry["@tau/source"] && !path.includes("*"))
      .map(([path, entry]) => [`@tau/${name}${path.slice(1)}`, getExports(join(directory, entry["@tau/source"]))])
  );
}

/** From each value that a front exports to the file where it is. */
function getExports(front) {
  const lines = readFileSync(front, "utf8").matchAll(/^export \{([^}]*)\} from ["']([^"']+)["'];$/gm);
  return new Map(
    [...lines].flatMap(([, names, from]) =>
      split(names)
        .filter((name) => !name.startsWith("type "))
        // What a front passes on from another package is found by its name.
        .map((name) => [name, from.startsWith("@tau/") ? from : join(dirname(front), from)]),
    ),
  );
}

function split(names) {
  const each = names.split(",").map((name) => name.trim());
  return each.filter((name) => name !== "");
}
