import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FileCompletion, type FileCompletionOptions, type FileSuggestions } from "./file-completion.ts";
import { findOpenMention, findOpenPath } from "./mention.ts";

let root = "";
let cwd = "";
let completion: FileCompletion;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tau-completion-"));
  cwd = join(root, "project");
  await mkdir(cwd);
  completion = create();
});

afterEach(async () => {
  completion.close();
  await rm(root, { recursive: true, force: true });
});

function create(options: Partial<FileCompletionOptions> = {}): FileCompletion {
  return new FileCompletion({ cwd, home: join(root, "home"), ...options });
}

async function add(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    if (!path.endsWith("/")) await writeFile(join(cwd, path), "");
    else await mkdir(join(cwd, path), { recursive: true });
  }
}

/** Asks as an editor does: again until the answer is complete. */
async function askUntilComplete(ask: () => Promise<FileSuggestions>): Promise<string[]> {
  let answer = await ask();
  await expect
    .poll(async () => {
      if (answer.isIncomplete) answer = await ask();
      return answer.isIncomplete;
    })
    .toBe(false);
  return answer.values;
}

const complete = async (before: string, files = completion): Promise<string[]> =>
  await askUntilComplete(() => files.complete(findOpenMention(before)!));

describe("files below the working directory", () => {
  test("are found by any part of their path, with their directories", async () => {
    await add("src/main.ts", "src/util/domain.ts", "README.md");
    expect(await complete("@")).toEqual(["README.md", "src/", "src/main.ts", "src/util/", "src/util/domain.ts"]);
    expect(await complete("@main")).toEqual(["src/main.ts", "src/util/domain.ts"]);
    expect(await complete("@./src/m")).toEqual(["./src/main.ts", "./src/util/domain.ts"]);
  });

  test("include hidden ones, but none that an ignore file excludes and nothing of .git", async () => {
    await add(
      ".env",
      ".github/ci.yml",
      ".git/HEAD",
      "out/a.js",
      "b.log",
      "secret.txt",
      "kept.ts",
      "sub/b.tmp",
      "sub/c.ts",
    );
    await writeFile(join(cwd, ".gitignore"), "out/\n*.log\n");
    await writeFile(join(cwd, ".ignore"), "secret.txt\n");
    await writeFile(join(cwd, "sub", ".gitignore"), "*.tmp\n");
    const files = (await complete("@")).filter((path) => !path.endsWith("/"));
    expect(files.toSorted()).toEqual([
      ".env",
      ".github/ci.yml",
      ".gitignore",
      ".ignore",
      "kept.ts",
      "sub/.gitignore",
      "sub/c.ts",
    ]);
  });

  test("honour .gitignore outside a repository, and the user's own ignore file", async () => {
    await add("a.log", "b.swp", "c.ts");
    await writeFile(join(cwd, ".gitignore"), "*.log\n");
    await mkdir(join(root, "home", ".config", "git"), { recursive: true });
    await writeFile(join(root, "home", ".config", "git", "ignore"), "*.swp\n");
    expect(await complete("@")).toEqual(["c.ts", ".gitignore"]);
  });

  test("are found in an ignored directory once its path is typed", async () => {
    await add(".git/HEAD", "node_modules/left-pad/index.js", "node_modules/.bin/tool", "a.ts");
    await writeFile(join(cwd, ".gitignore"), "node_modules/\n");
    expect(await complete("@left")).toEqual([]);
    expect(await complete("@node_modules/")).toEqual(["node_modules/left-pad/", "node_modules/.bin/"]);
    expect(await complete("@node_modules/left-pad/in")).toEqual(["node_modules/left-pad/index.js"]);
  });

  test("are quoted where a prompt needs it", async () => {
    await add("my dir/in side.txt", 'say "hi".md', "it's.md");
    expect(await complete("@side")).toEqual(['"my dir/in side.txt"']);
    expect(await complete('@"my d')).toEqual(['"my dir/"', '"my dir/in side.txt"']);
    expect(await complete("@hi")).toContain(`'say "hi".md'`);
    expect(await complete("@it")).toContain("it's.md");
  });

  test("are found behind a link, and a link that leads in a circle does no harm", async () => {
    await add("a/one.ts");
    await mkdir(join(root, "elsewhere"));
    await writeFile(join(root, "elsewhere", "two.ts"), "");
    await symlink(join(root, "elsewhere"), join(cwd, "link"));
    await symlink(cwd, join(cwd, "a", "circle"));
    expect(await complete("@two")).toEqual(["link/two.ts"]);
    expect(await complete("@one")).toEqual(["a/one.ts"]);
  });

  test.skipIf(process.platform === "win32")("with names that cannot be written are left out", async () => {
    await add("plain", "new\nline", "esc\x1b[2J");
    await writeFile(Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from([0x62, 0xff])]), "");
    expect(await complete("@")).toEqual(["plain"]);
    expect(await complete(`@${cwd}/`)).toEqual([`${cwd}/plain`]);
  });
});

describe("a tree that changes", () => {
  test("is listed again for each mention", async () => {
    await add("a.ts");
    expect(await complete("see @a")).toEqual(["a.ts"]);
    await add("ab.ts");
    expect(await complete("see @a and @a")).toEqual(["a.ts", "ab.ts"]);
    await rm(join(cwd, "a.ts"));
    expect(await complete("see @")).toEqual(["ab.ts"]);
  });

  test("is answered from the last list while it is listed again", async () => {
    await add("a.ts");
    await complete("@a");
    await add("ab.ts");
    const answer = await completion.complete(findOpenMention("and @a")!);
    expect(answer).toEqual({ values: ["a.ts"], isIncomplete: true });
    expect(await complete("and @a")).toEqual(["a.ts", "ab.ts"]);
  });

  test("is not listed again and again while one mention is asked for", async () => {
    await add("a.ts");
    expect(await complete("@")).toEqual(["a.ts"]);
    for (let round = 0; round < 3; round++) {
      expect(await completion.complete(findOpenMention("@")!)).toEqual({ values: ["a.ts"], isIncomplete: false });
    }
  });

  test("is not listed again when a mention is deleted character by character, but when it is written anew", async () => {
    await add("a.ts");
    for (const before of ["@ab", "@a"]) await complete(before);
    await add("ab.ts");
    expect(await completion.complete(findOpenMention("@")!)).toEqual({ values: ["a.ts"], isIncomplete: false });
    await complete("@ab");
    expect(await complete("@")).toEqual(["a.ts", "ab.ts"]);
  });

  test("that is gone has nothing to suggest", async () => {
    await add("a.ts");
    await complete("@a");
    await rm(cwd, { recursive: true });
    expect(await complete("and @a")).toEqual([]);
  });
});

describe("paths that leave the working directory", () => {
  test("are completed in their directory", async () => {
    await mkdir(join(root, "home", "notes"), { recursive: true });
    await writeFile(join(root, "home", "notes", "day.md"), "");
    await symlink(join(root, "home", "notes"), join(root, "home", "link"));
    expect(await complete("@~/")).toEqual(["~/link/", "~/notes/"]);
    expect(await complete("@~/notes/d")).toEqual(["~/notes/day.md"]);
    expect(await complete("@../ho")).toEqual(["../home/"]);
    expect(await complete(`@${root}/home/notes/`)).toEqual([`${root}/home/notes/day.md`]);
  });

  test("are found by a part of their name, those that begin with it first", async () => {
    await mkdir(join(root, "home"));
    for (const name of ["bar", "foobar", "barn"]) await writeFile(join(root, "home", name), "");
    expect(await complete("@~/bar")).toEqual(["~/bar", "~/barn", "~/foobar"]);
  });

  test("that do not exist, or may not be read, have nothing to suggest", async () => {
    expect(await complete("@/nowhere/at/all")).toEqual([]);
    await add("closed/inside.ts");
    await chmod(join(cwd, "closed"), 0);
    const isAllowed = process.getuid?.() === 0;
    expect(await complete(`@${cwd}/closed/`)).toEqual(isAllowed ? [`${cwd}/closed/inside.ts`] : []);
    await chmod(join(cwd, "closed"), 0o755);
  });

  test("are found in a large directory too", async () => {
    await mkdir(join(root, "home"));
    const names = Array.from({ length: 3_000 }, (_unused, index) => `f${index}`);
    await Promise.all(names.map((name) => writeFile(join(root, "home", name), "")));
    const found = await complete("@~/f299");
    expect(found.slice(0, 12)).toEqual([
      "~/f299",
      ...Array.from({ length: 10 }, (_unused, index) => `~/f299${index}`),
      "~/f1299",
    ]);
  });
});

describe("without ripgrep", () => {
  test.each<[string, FileCompletionOptions["locate"]]>([
    ["that is installed", () => Promise.reject(new Error("There is none."))],
    ["that can be started", async () => "/nowhere/rg"],
  ])("%s, files are completed one directory at a time", async (_name, locate) => {
    await add("src/main.ts", "src/util/a.ts", "README.md");
    const files = create({ locate: locate! });
    expect(await complete("@", files)).toEqual(["README.md", "src/"]);
    expect(await complete("@src/", files)).toEqual(["src/main.ts", "src/util/"]);
    expect(await complete("@./src/m", files)).toEqual(["./src/main.ts"]);
    files.close();
  });
});

test.skipIf(process.platform === "win32")(
  "a listing that takes long is answered in part, and ends when it is closed",
  async () => {
    const slow = join(root, "slow-rg");
    await writeFile(slow, `#!/bin/sh\necho $$ > ${root}/pid\nprintf 'first.ts\\0'\nexec sleep 60\n`);
    await chmod(slow, 0o755);
    const files = create({ locate: async () => slow });
    await expect
      .poll(() => files.complete(findOpenMention("@fi")!))
      .toEqual({ values: ["first.ts"], isIncomplete: true });
    const pid = Number(await readFile(join(root, "pid"), "utf8"));
    files.close();
    await expect.poll(() => isRunning(pid)).toBe(false);
  },
);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    expect(error).toMatchObject({ code: "ESRCH" });
    return false;
  }
}

describe("a path without an @", () => {
  const completePath = async (before: string) =>
    await askUntilComplete(() => completion.completePath(findOpenPath(before)!));

  test("is completed in its directory, by how names begin, with what ignore files exclude", async () => {
    await add("src/main.ts", "src/Makefile", "src/domain.ts", "server/", "my notes/a.txt", "README.md", "out/x");
    await writeFile(join(cwd, ".gitignore"), "out");
    expect(await completePath("look at s")).toEqual(["src/", "server/"]);
    expect(await completePath("look at src/m")).toEqual(["src/main.ts", "src/Makefile"]);
    expect(await completePath("o")).toEqual(["out/"]);
    expect(await completePath("./RE")).toEqual(["./README.md"]);
    expect(await completePath("my")).toEqual(['"my notes/"']);
    expect(await completePath('"my notes/')).toEqual(['"my notes/a.txt"']);
    expect(await completePath("..")).toEqual(["../project/"]);
    expect(await completePath("nothing")).toEqual([]);
  });

  test("is found after a second in a directory that was listed before it was there", async () => {
    const clock = createFakeClock();
    completion = create({ clock });
    expect(await completePath("ne")).toEqual([]);
    await add("new.txt");
    await clock.advance(1_001);
    expect(await completePath("ne")).toEqual(["new.txt"]);
  });
});

test("files of directories that were added are found by what is typed, after those of the project and by their whole path", async () => {
  await add("src/main.ts");
  const other = join(root, "other");
  await mkdir(other);
  await writeFile(join(other, "domain.ts"), "");
  const added: string[] = [];
  completion = create({ listAdded: () => added, mayShow: async (path) => !path.endsWith("hidden.ts") });
  expect(await complete("@main")).toEqual(["src/main.ts"]);
  added.push(other);
  await writeFile(join(other, "hidden.ts"), "");
  expect(await complete("@main")).toEqual(["src/main.ts", join(other, "domain.ts")]);
  expect(await complete("@hidden")).toEqual([]);
  expect(await complete("@")).toEqual(["src/", "src/main.ts"]);
});
