/** Archives that try to leave their directory, to fill the disk, or to confuse who unpacks them. */
import { lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type ArchiveFile, createArchive, createTar } from "./archive.ts";
import { listResources } from "../../src/installs/list-resources.ts";
import { readManifest } from "../../src/installs/manifest.ts";
import { createNpmWorkspace, fetch } from "./kit.ts";

const manifest = (more: object = {}): ArchiveFile => ({
  name: "package/package.json",
  content: JSON.stringify({ name: "pack", version: "1.0.0", ...more }),
});
const good: ArchiveFile = { name: "package/extensions/a.ts", content: "export default () => {};" };
const archive =
  (...files: ArchiveFile[]) =>
  (): Buffer =>
    createArchive([manifest(), good, ...files]);
const evil = (name: string, more: Partial<ArchiveFile> = {}) => archive({ name, content: "evil", ...more });

const archiveOf = (count: number): Buffer =>
  archive(...Array.from({ length: count }, (_unused, index) => ({ name: `package/many/${index}` })))();

/** `outside` is a file that belongs to the user. */
type ListCases = (outside: string) => [string, () => Buffer][];

/** npm leaves out what is bad in them, and unpacks the rest. */
const listUnpacked: ListCases = (outside) => [
  ...["../evil", "../../evil", "package/../evil", "package/../../evil", "package/../../../../../../evil"].map(
    (name): [string, () => Buffer] => [`the name ${name}`, evil(name)],
  ),
  ...["..", ".", "/", "package/..", "package/../..", "package//..//..//evil", "package/./../../evil"].map(
    (name): [string, () => Buffer] => [`the name ${name}`, evil(name)],
  ),
  ["an absolute name", evil(outside)],
  ["an absolute name with slashes", evil(`//${outside}`)],
  ["an absolute name below package", evil(`package/${outside}`)],
  ["a name with backslashes", evil("package\\..\\..\\evil")],
  ["a drive", evil("C:\\evil")],
  ["a drive below package", evil("package/C:/../../evil")],
  ["full stops of another alphabet", evil("package/\uFF0E\uFF0E/evil")],
  ["a slash of another alphabet", evil("package/..\u2215evil")],
  ["letters that turn around", evil("package/extensions/\u202Est.a.ts")],
  [
    "two forms of one letter",
    archive({ name: "package/\u00E9.ts", content: "1" }, { name: "package/e\u0301.ts", content: "2" }),
  ],
  ["a line break in a name", evil("package/extensions/a\nb.ts")],
  ["escapes of a terminal in a name", evil("package/extensions/\u001B[2J\u001B]0;x\u0007.ts")],
  ["a name of 99 characters", evil(`package/${"x".repeat(91)}`)],
  ["very many levels", evil(`package/${"a/".repeat(45)}x`)],
  ["a link to a file of the user", archive({ name: "package/link", link: outside })],
  ["a link upwards", archive({ name: "package/link", link: "../../../../settings.json" })],
  [
    "a link to a directory, and a file through it",
    archive({ name: "package/d", link: "../../.." }, { name: "package/d/evil", content: "evil" }),
  ],
  [
    "a link to an absolute directory, and a file through it",
    archive({ name: "package/d", link: join(outside, "..") }, { name: "package/d/evil", content: "evil" }),
  ],
  ["a link to itself", archive({ name: "package/self", link: "self" })],
  ["a link to nothing", archive({ name: "package/gone", link: "nothing" })],
  [
    "a link in the place of the package",
    () => createArchive([{ name: "package", link: join(outside, "..") }, manifest(), good]),
  ],
  ["a hard link to a file of the user", archive({ name: "package/hard", link: outside, type: "1" })],
  ["a hard link upwards", archive({ name: "package/hard", link: "../../../../../settings.json", type: "1" })],
  [
    "a hard link, then a file over it",
    archive({ name: "package/hard", link: outside, type: "1" }, { name: "package/hard", content: "evil" }),
  ],
  ["a character device", evil("package/null", { type: "3" })],
  ["a block device", evil("package/disk", { type: "4" })],
  ["a pipe", evil("package/pipe", { type: "6" })],
  ["an unknown kind of entry", evil("package/odd", { type: "Z" })],
  ["a claimed size that is no number", evil("package/odd", { size: Number.NaN })],
  ["one name twice", archive({ name: good.name, content: "export default () => { throw 1; };" })],
  [
    "a file and a directory of one name",
    archive({ name: "package/x", content: "1" }, { name: "package/x/y", content: "2" }),
  ],
  [
    "a long name by an entry of its own",
    archive({ name: "././@LongLink", type: "L", content: "../../../../evil\0" }, { name: "x", content: "evil" }),
  ],
  [
    "a path by an extended header",
    archive({ name: "h", type: "x", content: "29 path=../../../../../evil\n" }, { name: "package/x", content: "evil" }),
  ],
  [
    "a global extended header",
    archive({ name: "g", type: "g", content: "29 path=../../../../../evil\n" }, { name: "package/x", content: "evil" }),
  ],
  ["2,000 entries", () => archiveOf(2_000)],
  ["no gzip at all", () => createTar([manifest(), good])],
  [
    "a bin that leads outside",
    () => createArchive([manifest({ bin: { "../../../evil": outside, evil: "../../../../evil" } }), good]),
  ],
  [
    "install scripts",
    () =>
      createArchive([
        manifest({
          scripts: {
            preinstall: `echo evil > ${outside}`,
            install: `echo evil > ${outside}`,
            postinstall: `echo evil > ${outside}`,
          },
        }),
        good,
      ]),
  ],
];

const listRefused: ListCases = (outside) => [
  ["bytes that are not text in a name", evil("package/\uDC80\uDCFF.ts")],
  ["a link in the place of the manifest", () => createArchive([good, { name: "package/package.json", link: outside }])],
  ["a file that claims 10 GB", archive({ name: "package/large", content: "small", size: 10 * 1024 ** 3 - 1 })],
  ["two manifests", archive(manifest({ name: "other", version: "9.9.9" }))],
  ["a file that runs as its owner", evil("package/run", { mode: 0o4777 })],
  [
    "a file of 64 MB of zeros",
    () =>
      gzipSync(
        Buffer.concat([
          createTar([manifest(), good]).subarray(0, -1024),
          createTar([{ name: "package/zeros", content: "\0".repeat(64 * 1024 * 1024) }]),
        ]),
      ),
  ],
  ["an archive that is cut off", () => archive()().subarray(0, 60)],
  ["bytes after the end", () => Buffer.concat([archive()(), Buffer.from("more")])],
  [
    "bad checksums of gzip",
    () => Buffer.from(archive()().map((byte, index, all) => (index > all.length - 8 ? byte ^ 0xff : byte))),
  ],
  ["nothing", () => Buffer.alloc(0)],
  ["text", () => Buffer.from("<html>")],
  ["a manifest that is no JSON", () => createArchive([{ name: "package/package.json", content: "{" }, good])],
  [
    "a manifest that names a file outside",
    () => createArchive([manifest({ tau: { extensions: ["../../../../../evil.ts", outside] } }), good]),
  ],
];

/** All below a directory, with what each of them is. */
function describeTree(directory: string, skips: readonly string[]): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry): string[] => {
    const path = join(directory, entry.name);
    if (skips.includes(path)) return [];
    if (entry.isDirectory()) return describeTree(path, skips);
    const { nlink, mode } = lstatSync(path);
    return [`${path} ${entry.isFile() ? readFileSync(path, "latin1").slice(0, 100) : "special"} ${nlink} ${mode}`];
  });
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? listFiles(join(directory, entry.name)) : [join(directory, entry.name)],
  );
}

const toNames = (list: ListCases) => list("/outside/file").map(([name]) => name);

test("there are at least 50 of them", () => {
  const names = [...toNames(listUnpacked), ...toNames(listRefused)];
  expect(names.length).toBeGreaterThanOrEqual(50);
});

async function createHostileWorkspace() {
  const workspace = await createNpmWorkspace();
  const outside = join(workspace.root, "mine.txt");
  writeFileSync(outside, "mine");
  const skips = [workspace.agentDir, join(workspace.root, "npm-cache")];
  const before = describeTree(workspace.root, skips);
  /** Fetches `npm:pack`, which may be refused, and changes nothing outside. */
  const fetchPack = async () => {
    const outcome = await fetch(workspace, "npm:pack").then(
      (fetched) => fetched.enable(),
      (error: { code?: string; message?: string }) => error,
    );
    expect(describeTree(workspace.root, skips)).toEqual(before);
    return outcome;
  };
  return { ...workspace, outside, fetchPack };
}

/** That nothing in a directory of packages leads out of it, or is anything but files. */
async function checkUnpacked(modules: string): Promise<void> {
  const directory = realpathSync(modules);
  for (const path of listFiles(directory)) {
    const stats = lstatSync(path);
    expect(stats.isFile() || stats.isSymbolicLink(), path).toBe(true);
    expect(stats.nlink, path).toBe(1);
    expect(stats.mode & 0o7000, path).toBe(0);
    if (stats.isSymbolicLink()) expect(realpathSync(path).startsWith(directory), path).toBe(true);
  }
  for (const name of readdirSync(directory).filter((each) => !each.startsWith("."))) {
    const root = join(directory, name);
    const { extensions } = listResources(root, readManifest(root));
    for (const extension of extensions) expect(realpathSync(join(root, extension)).startsWith(root)).toBe(true);
  }
}

// One start of npm for all: it takes most of the time.
test("archives that can be unpacked are, inside their directories and nowhere else", async () => {
  const workspace = await createHostileWorkspace();
  const archives = listUnpacked(workspace.outside).map(([, create], index) => [`case-${index}`, create()] as const);
  const dependencies = Object.fromEntries(archives.map(([name]) => [name, "1.0.0"]));
  workspace.registry.publish("pack", "1.0.0", { manifest: { dependencies }, files: { "extensions/a.ts": "" } });
  // The registry says so, else npm looks for no script.
  const manifest = { hasInstallScript: true };
  for (const [name, archive] of archives) workspace.registry.publish(name, "1.0.0", { archive, manifest });
  const root = await workspace.fetchPack();
  if (typeof root !== "string") return expect.fail(root.message);
  const modules = join(root, "..");
  for (const [name] of archives) expect(readdirSync(join(modules, name)), name).toContain("package.json");
  await checkUnpacked(modules);
});

test.each(toNames(listRefused))("an archive with %s is refused, or unpacked inside its directory", async (name) => {
  const workspace = await createHostileWorkspace();
  const create = new Map(listRefused(workspace.outside)).get(name)!;
  workspace.registry.publish("pack", "1.0.0", { archive: create() });
  const root = await workspace.fetchPack();
  if (typeof root === "string") return await checkUnpacked(join(root, ".."));
  expect(root.code).toBe("install_failed");
  expect(listFiles(workspace.root).filter((path) => path.startsWith(workspace.agentDir))).toEqual([]);
});
