/**
 * The bare git directory of a project: it reads the objects of the repository and writes its own. The repository's refs, index
 * and objects are never written to, and its configuration is not read.
 */
import { copyFile, lstat, mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import { tolerate, unlessMissing } from "@tau/tools/platform";
import { hostPrograms } from "../kit/host-programs.ts";
import { type GitOptions, type GitResult, runGit } from "../kit/run-git.ts";
import { UndoError } from "./failure.ts";
import type { WorkspaceRepository } from "./find-repository.ts";
import { removeOwn } from "./own-files.ts";
import type { StoreOptions } from "./snapshot-store.ts";

/** Contents are kept as they are: no line ends are changed, no keywords, no encoding, no filter. */
const attributes = "* -text -eol -crlf -ident -working-tree-encoding -filter -diff -merge -export-subst\n";

const config: NonNullable<GitOptions["config"]> = [
  ["core.autocrlf", "false"],
  ["core.safecrlf", "false"],
  ["core.fileMode", String(process.platform !== "win32")],
  ["core.symlinks", "true"],
  ["core.sparseCheckout", "false"],
  ["core.untrackedCache", "false"],
  ["core.splitIndex", "false"],
  ["core.quotePath", "false"],
  ["core.looseCompression", "1"],
  // Unlike a pack, what is loose can be removed one by one.
  ["fastimport.unpackLimit", "1000000"],
  ["index.sparse", "false"],
  ["core.logAllRefUpdates", "false"],
];

export class GitDirectory {
  readonly #options: StoreOptions;
  readonly #repository: WorkspaceRepository;
  readonly #env: Record<string, string>;
  #hasBorrowed = false;

  constructor(options: StoreOptions, repository: WorkspaceRepository) {
    this.#options = options;
    this.#repository = repository;
    this.#env = {
      GIT_DIR: this.path,
      GIT_WORK_TREE: repository.top,
      GIT_INDEX_FILE: this.index,
      GIT_LITERAL_PATHSPECS: "1",
      GIT_NO_LAZY_FETCH: "1",
    };
  }

  get path(): string {
    return join(this.#options.directory, "git");
  }

  get index(): string {
    return join(this.#options.directory, "index");
  }

  /** Runs git whatever it answers. */
  async tryGit(args: readonly string[], options: Pick<GitOptions, "input" | "signal"> = {}): Promise<GitResult> {
    return await runGit(hostPrograms, args, {
      ...options,
      cwd: this.#options.root,
      env: this.#env,
      config,
      // The attributes of the directory turn them off.
      hasFilters: false,
    });
  }

  async git(args: readonly string[], options: Pick<GitOptions, "input" | "signal"> = {}): Promise<Buffer> {
    const { code, stdout, stderr } = await this.tryGit(args, options);
    if (code === 0) return stdout;
    if (options.signal?.aborted) throw new UndoError("it took too long");
    throw new UndoError(`git ${args[0]} failed: ${stderr.trim().slice(0, 500) || `exit code ${code}`}`);
  }

  /** Makes it unless it is there, and finds out what may have changed since. */
  async prepare(): Promise<void> {
    const { objectFormat, common } = this.#repository;
    const isMade = await unlessMissing(lstat(join(this.path, "HEAD")));
    if (!isMade) {
      await mkdir(this.path, { recursive: true, mode: 0o700 });
      const init = ["init", "--quiet", "--bare", "--template=", `--object-format=${objectFormat}`];
      const { code, stderr } = await runGit(hostPrograms, [...init, "--initial-branch=none", this.path], {
        cwd: this.#options.directory,
        env: { GIT_DEFAULT_REF_FORMAT: "files" },
        config: [["init.defaultRefFormat", "files"]],
      });
      if (code !== 0) throw new UndoError(`git init failed: ${stderr.trim().slice(0, 500)}`);
      await mkdir(join(this.path, "info"), { recursive: true });
      await writeFile(join(this.path, "info/attributes"), attributes);
    }
    await mkdir(join(this.path, "objects/info"), { recursive: true });
    // A path that begins with a quote is one in quotes.
    const objects = join(common, "objects");
    await writeFile(
      join(this.path, "objects/info/alternates"),
      `${/^["#]|\n/.test(objects) ? quote(objects) : objects}\n`,
    );
    await this.#writeExclude();
    // Of a process that was killed: nobody else works here now.
    await removeOwn(`${this.index}.lock`);
    await removeOwn(join(this.path, "objects/info/commit-graphs/commit-graph-chain.lock"));
    if (!(await unlessMissing(lstat(this.index)))) await this.#borrowIndex();
  }

  /** Lets go of an index of the repository that git could not read here, such as one that refers to files beside it. */
  async dropBorrowed(): Promise<boolean> {
    if (!this.#hasBorrowed) return false;
    this.#hasBorrowed = false;
    await removeOwn(this.index);
    return true;
  }

  /** Writes down what the repository ignores besides its `.gitignore` files, and tau's own directory. */
  async #writeExclude(): Promise<void> {
    const { common, top } = this.#repository;
    const own = (await tolerate(readFile(join(common, "info/exclude"), "utf8"), "ENOENT", "ENOTDIR", "EISDIR")) ?? "";
    const inside = relative(top, this.#options.agentDir);
    const isInside = inside !== "" && !inside.startsWith("..");
    const line = isInside
      ? `/${inside
          .split(sep)
          .join("/")
          .replaceAll(/[\\*?[\]! #]/g, String.raw`\$&`)}\n`
      : "";
    await writeFile(join(this.path, "info/exclude"), `${own}\n${line}`);
  }

  /**
   * Begins with the index of the repository, which knows the files that are as in the last commit, unless contents in the
   * repository may differ from those of the files.
   */
  async #borrowIndex(): Promise<void> {
    const source = join(this.#repository.gitDirectory, "index");
    const stats = await unlessMissing(lstat(source));
    if (!stats?.isFile() || (await this.#mayConvert(source))) return;
    await copyFile(source, this.index);
    // Git looks into files that are as new as the index. With the time of the copy, a change right after it would be missed.
    const seconds = Math.floor(stats.mtimeMs / 1_000);
    await utimes(this.index, seconds, seconds);
    this.#hasBorrowed = true;
  }

  async #mayConvert(index: string): Promise<boolean> {
    if ((await readFile(index)).includes("attributes")) return true;
    const global = join(process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "git/attributes");
    const files = [join(this.#repository.common, "info/attributes"), "/etc/gitattributes", global];
    for (const file of files) if (await tolerate(stat(file), "ENOENT", "ENOTDIR")) return true;
    const args = ["config", "--null", "--get-regexp", "^core\\.(autocrlf|attributesfile|ignorestat)$"];
    const { stdout } = await runGit(hostPrograms, args, { cwd: this.#repository.top });
    const values = stdout.toString("utf8").split("\0").filter(Boolean);
    return values.some((value) => !/\n(?:false|no|off|0)$/i.test(value));
  }
}

const quote = (path: string): string =>
  `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
