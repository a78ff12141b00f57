import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DiscoverOptions, discoverExtensions } from "./discover.ts";

let root: string;
let cwd: string;
let agentDir: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-discover-")));
  [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
});
afterEach(() => {
  rmSync(root, { recursive: true });
  vi.unstubAllEnvs();
});

function write(...names: string[]): void {
  for (const name of names) writeText(name, "export default () => {};");
}

function writeText(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

const discover = (options: Partial<DiscoverOptions> = {}) =>
  discoverExtensions({
    cwd,
    agentDir,
    paths: [],
    userPaths: [],
    projectPaths: [],
    packages: [],
    discovers: true,
    isProjectTrusted: true,
    ...options,
  });

/** `name: path` of each source, the path relative to the test's directory. */
async function list(options: Partial<DiscoverOptions> = {}): Promise<string[]> {
  const { sources, problems } = await discover(options);
  return [
    ...sources.map(({ name, path }) => `${name}: ${path.slice(root.length + 1)}`),
    ...problems.map(({ extension, message }) => `PROBLEM ${extension}: ${message}`.replaceAll(`${root}/`, "")),
  ];
}

describe("directories", () => {
  test("nothing there is no problem", async () => {
    expect(await discover()).toEqual({ sources: [], problems: [] });
  });

  test("files, indexes and manifests are found one level deep, in the order of their names", async () => {
    write(
      "agent/extensions/b.ts",
      "agent/extensions/a.js",
      "agent/extensions/dir/index.ts",
      "agent/extensions/js/index.js",
    );
    write("agent/extensions/types.d.ts", "agent/extensions/.hidden.ts", "agent/extensions/deep/er/index.ts");
    write("agent/extensions/node_modules/x/index.js", "agent/extensions/lib/util.ts", "agent/extensions/read.md");
    write("agent/extensions/pack/index.ts", "agent/extensions/pack/src/main.ts");
    writeText("agent/extensions/pack/package.json", '{"name": "@me/pack", "pi": {"extensions": ["./src/main.ts"]}}');
    expect(await list()).toEqual([
      "a: agent/extensions/a.js",
      "b: agent/extensions/b.ts",
      "dir: agent/extensions/dir/index.ts",
      "js: agent/extensions/js/index.js",
      "@me/pack: agent/extensions/pack/src/main.ts",
    ]);
  });

  test("a manifest can name several files, directories and patterns, and leave some out; `tau` is preferred", async () => {
    write("agent/extensions/pack/one.ts", "agent/extensions/pack/ext/two.ts", "agent/extensions/pack/ext/not.ts");
    write("agent/extensions/pack/more/three.ts", "agent/extensions/pack/more/four.ts");
    const files = ["one.ts", "./ext", "more/*.ts", "!not.ts", "gone.ts"];
    const manifest = { name: "pack", tau: { extensions: files }, pi: { extensions: ["nothing.ts"] } };
    writeText("agent/extensions/pack/package.json", JSON.stringify(manifest));
    expect(await list()).toEqual([
      "pack/one: agent/extensions/pack/one.ts",
      "pack/two: agent/extensions/pack/ext/two.ts",
      "pack/four: agent/extensions/pack/more/four.ts",
      "pack/three: agent/extensions/pack/more/three.ts",
      "PROBLEM pack: Its package.json names agent/extensions/pack/gone.ts, which is not there.",
    ]);
  });

  test("manifests that name themselves or each other end nothing", async () => {
    write("agent/extensions/a/index.ts", "agent/extensions/b/one.ts");
    for (const [name, other] of Object.entries({ a: "../b", b: "../a", c: "." })) {
      writeText(`agent/extensions/${name}/package.json`, JSON.stringify({ pi: { extensions: [other] } }));
    }
    expect(await list()).toEqual(["a: agent/extensions/a/index.ts", "b: agent/extensions/b/one.ts"]);
  });

  test("a package with only `main` counts, and one that is not valid is named", async () => {
    write("agent/extensions/main/dist/start.js");
    writeText("agent/extensions/main/package.json", '{"name": "by-main", "main": "dist/start"}');
    writeText("agent/extensions/broken/package.json", "{");
    expect(await list()).toEqual([
      "by-main: agent/extensions/main/dist/start.js",
      expect.stringMatching("^PROBLEM agent/extensions/broken: Its package.json cannot be read: "),
    ]);
  });

  test("the user's come before the project's, and the project's count after it is trusted", async () => {
    write("agent/extensions/z.ts", "project/.pi/extensions/a.ts", "project/.tau/extensions/b.ts");
    expect(await list()).toEqual([
      "z: agent/extensions/z.ts",
      "b: project/.tau/extensions/b.ts",
      "a: project/.pi/extensions/a.ts",
    ]);
    expect(await list({ isProjectTrusted: false, projectPaths: [join(cwd, ".pi/extensions/a.ts")] })).toEqual([
      "z: agent/extensions/z.ts",
    ]);
  });

  test("the same file counts once, by its first origin", async () => {
    write("agent/extensions/a.ts");
    mkdirSync(join(root, "project/.pi"), { recursive: true });
    symlinkSync(join(root, "agent/extensions"), join(root, "project/.pi/extensions"));
    const { sources } = await discover({ userPaths: [join(agentDir, "extensions", "a.ts")] });
    expect(sources.map(({ path, origin }) => [path, origin])).toEqual([[join(agentDir, "extensions/a.ts"), "user"]]);
  });
});

describe("named extensions", () => {
  test("the command line names files, extensions and directories of extensions", async () => {
    write("project/x.mjs", "project/one/index.ts", "project/many/a.ts", "project/many/b/index.ts");
    write("agent/extensions/user.ts");
    mkdirSync(join(cwd, "empty"));
    const paths = ["x.mjs", join(cwd, "one"), "./many", "empty", "gone.ts"];
    expect(await list({ paths, discovers: false })).toEqual([
      "x: project/x.mjs",
      "one: project/one/index.ts",
      "a: project/many/a.ts",
      "b: project/many/b/index.ts",
      expect.stringContaining("PROBLEM project/empty: The directory has no extension"),
      "PROBLEM project/gone.ts: There is no file or directory project/gone.ts.",
    ]);
  });

  test("a package is found by its name: installed, linked or global", async () => {
    write("project/node_modules/installed/lib.js", "elsewhere/lib.js", "prefix/lib/node_modules/@me/global/lib.js");
    for (const directory of ["project/node_modules/installed", "elsewhere", "prefix/lib/node_modules/@me/global"]) {
      writeText(`${directory}/package.json`, JSON.stringify({ name: directory.split("/").at(-1), main: "lib.js" }));
    }
    symlinkSync(join(root, "elsewhere"), join(root, "prefix/lib/node_modules/linked"));
    vi.stubEnv("npm_config_prefix", join(root, "prefix"));
    expect(await list({ paths: ["installed", "linked", "@me/global"] })).toEqual([
      "installed: project/node_modules/installed/lib.js",
      "elsewhere: elsewhere/lib.js",
      "global: prefix/lib/node_modules/@me/global/lib.js",
    ]);
    expect(await list({ userPaths: [join(agentDir, "linked"), join(agentDir, "@me/global")] })).toEqual([
      "elsewhere: elsewhere/lib.js",
      "global: prefix/lib/node_modules/@me/global/lib.js",
    ]);
  });

  test.each([
    ["prefix=ROOT/prefix"],
    ["  prefix = '${TEST_DIRECTORY}/prefix'\r\nregistry=https://example.org/\n"],
    ["prefix=ROOT/other\n; prefix=ROOT/none\nprefix = ROOT/prefix ; the last one counts\n[section]\nprefix=ROOT/none"],
  ])("a global package is found where the user's npm configuration puts it: %j", async (text) => {
    write("prefix/lib/node_modules/global/index.js");
    writeText("npmrc", text.replaceAll("ROOT", root));
    vi.stubEnv("npm_config_prefix", undefined);
    vi.stubEnv("NPM_CONFIG_PREFIX", undefined);
    vi.stubEnv("TEST_DIRECTORY", root);
    for (const name of ["npm_config_userconfig", "npm_config_globalconfig"]) {
      vi.stubEnv("npm_config_userconfig", join(root, "none"));
      vi.stubEnv(name, join(root, "npmrc"));
      expect(await list({ paths: ["global"] })).toEqual(["global: prefix/lib/node_modules/global/index.js"]);
    }
  });

  test("a prefix of npm that is not absolute counts as none", async () => {
    write("project/prefix/lib/node_modules/wanted/index.js");
    writeText("npmrc", "prefix=prefix");
    vi.stubEnv("npm_config_userconfig", join(root, "npmrc"));
    expect(await list({ userPaths: [join(agentDir, "wanted")] })).toEqual([
      "PROBLEM agent/wanted: There is no file or directory agent/wanted.",
    ]);
  });

  test("a project cannot supply a package that the user's settings name", async () => {
    write("project/node_modules/wanted/index.js");
    expect(await list({ userPaths: [join(agentDir, "wanted")] })).toEqual([
      "PROBLEM agent/wanted: There is no file or directory agent/wanted.",
    ]);
    expect(await list({ projectPaths: [join(cwd, ".tau", "wanted")] })).toEqual([
      "wanted: project/node_modules/wanted/index.js",
    ]);
  });

  test("settings add extensions, and leave out some of those that were found", async () => {
    write("agent/extensions/a.ts", "agent/extensions/b.ts", "agent/extensions/dir/index.ts", "agent/more/c.ts");
    write("project/.tau/extensions/a.ts");
    const userPaths = [join(agentDir, "more"), "!a.ts", "!dir", `-${join(agentDir, "extensions/b.ts")}`];
    expect(await list({ userPaths })).toEqual(["c: agent/more/c.ts", "a: project/.tau/extensions/a.ts"]);
    expect(await list({ userPaths: ["!*", `+${join(agentDir, "extensions/a.ts")}`], isProjectTrusted: false })).toEqual(
      ["a: agent/extensions/a.ts"],
    );
  });

  test("packages come last of their scope, under their own name and id", async () => {
    write("agent/extensions/a.ts", "agent/npm/pack/one.ts", "agent/npm/pack/two.ts", "project/.tau/npm/solo/index.ts");
    const pack = {
      id: "npm:pack",
      root: join(root, "agent/npm/pack"),
      scope: "user",
      source: "npm:pack@1.0.0",
      extensions: ["one.ts", "two.ts"].map((name) => join(root, "agent/npm/pack", name)),
    } as const;
    const solo = {
      id: "npm:solo",
      root: join(cwd, ".tau/npm/solo"),
      scope: "project",
      source: "npm:solo",
      extensions: [join(cwd, ".tau/npm/solo")],
    } as const;
    const { sources, problems } = await discover({ packages: [solo, pack] });
    expect(problems).toEqual([]);
    expect(sources.map(({ id, name, info }) => ({ id, name, ...info }))).toEqual([
      expect.objectContaining({ name: "a", origin: "top-level" }),
      {
        id: "npm:pack",
        name: "npm:pack/one",
        origin: "package",
        path: join(pack.root, "one.ts"),
        source: "npm:pack@1.0.0",
        scope: "user",
        baseDir: pack.root,
      },
      expect.objectContaining({ id: "npm:pack", name: "npm:pack/two" }),
      expect.objectContaining({ id: "npm:solo", name: "npm:solo", scope: "project" }),
    ]);
    expect(sources[1]!.digest).toBe(sources[2]!.digest);
  });
});

describe("digests", () => {
  const getDigest = async (): Promise<string | undefined> => (await discover()).sources[0]?.digest;

  test("any file of a project's extension counts", async () => {
    write("project/.tau/extensions/x/index.ts", "project/.tau/extensions/x/node_modules/y/index.js");
    const before = await getDigest();
    expect(await getDigest()).toBe(before);
    write("project/.tau/extensions/x/.git/HEAD");
    expect(await getDigest()).toBe(before);
    writeText("project/.tau/extensions/x/node_modules/y/index.js", "changed");
    const after = await getDigest();
    expect(after).not.toBe(before);
    write("project/.tau/extensions/x/new.ts");
    expect(await getDigest()).not.toBe(after);
  });

  test("of a single file, the files that it names count, wherever they are", async () => {
    writeText("project/.tau/extensions/x.ts", "import '../lib/y.js';");
    writeText("project/.tau/lib/y.ts", "require(`./z.json`);");
    writeText("project/.tau/lib/z.json", "1");
    writeText("project/.tau/lib/other.json", "1");
    const before = await getDigest();
    writeText("project/.tau/lib/other.json", "2");
    expect(await getDigest()).toBe(before);
    writeText("project/.tau/lib/z.json", "2");
    expect(await getDigest()).not.toBe(before);
  });

  test("a link that leads out of a project's extension or nowhere is refused", async () => {
    write("project/.tau/extensions/x/index.ts", "secret.ts");
    symlinkSync(join(root, "secret.ts"), join(cwd, ".tau/extensions/x/out.ts"));
    expect(await list()).toEqual([
      "PROBLEM x: project/.tau/extensions/x/out.ts is a link that leads out of the extension, to secret.ts.",
    ]);
    rmSync(join(root, "secret.ts"));
    expect(await list()).toEqual([expect.stringContaining("PROBLEM x: Its files cannot be read: ENOENT")]);
  });

  test("a link inside of it counts as what it leads to", async () => {
    write("project/.tau/extensions/x/index.ts", "project/.tau/extensions/x/a.ts");
    writeText("project/.tau/extensions/x/b.ts", "other");
    const link = join(cwd, ".tau/extensions/x/link.ts");
    symlinkSync("a.ts", link);
    const before = await getDigest();
    rmSync(link);
    symlinkSync("b.ts", link);
    expect(await getDigest()).not.toBe(before);
  });

  test("one with too many files is refused", async () => {
    write("project/.tau/extensions/x/index.ts");
    for (let index = 0; index < 10_000; index++) writeFileSync(join(cwd, `.tau/extensions/x/${index}`), "");
    expect(await list()).toEqual(["PROBLEM x: It has more than 10000 files."]);
  });
});

test("what is not the user's own can be compared with what was found, file by file", async () => {
  write(
    "project/.tau/extensions/one.ts",
    "project/.tau/extensions/dir/index.ts",
    "project/.tau/extensions/dir/part.ts",
  );
  write("agent/extensions/mine.ts");
  const { sources } = await discover();
  const compare = () => sources.map(({ name, isUnchanged }) => [name, isUnchanged?.()]);
  expect(compare()).toEqual([
    ["mine", undefined],
    ["dir", true],
    ["one", true],
  ]);
  writeText("project/.tau/extensions/dir/part.ts", "export const changed = 1;");
  rmSync(join(root, "project/.tau/extensions/one.ts"));
  expect(compare().map(([, isSame]) => isSame)).toEqual([undefined, false, false]);
});
