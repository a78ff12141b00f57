import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ProtectedFiles } from "./protected-files.ts";
import { createSetAside } from "./set-aside.ts";

/** Acts as a command does, between a look before it and one after it. */
function openProject(prepare: (project: Project) => void = () => undefined) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-protected-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = new Project(root);
  for (const name of ["ws", "home", "agent"]) mkdirSync(join(root, name));
  prepare(project);
  let id = 0;
  const setAside = createSetAside(join(root, "agent/set-aside"), () => String(id++));
  const workspace = join(root, "ws");
  const getWritable = () => [workspace];
  const files = new ProtectedFiles({
    workspace,
    shownFrom: workspace,
    home: join(root, "home"),
    setAside,
    getWritable,
  });
  files.refresh();
  return { project, files };
}

class Project {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  path(name: string): string {
    return join(this.#root, name);
  }

  write(name: string, text = "evil"): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    chmodSync(this.path(name), 0o755);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  link(name: string, target: string): void {
    symlinkSync(target, this.path(name));
  }

  git(...args: string[]): string {
    const env = { PATH: process.env["PATH"], HOME: this.path("home"), GIT_CONFIG_NOSYSTEM: "1" };
    return execFileSync("git", args, {
      cwd: this.path("ws"),
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  has(name: string): boolean {
    return lstatSync(this.path(name), { throwIfNoEntry: false }) !== undefined;
  }
}

describe.runIf(process.platform === "linux")("protected names", () => {
  test("a project of an editor is protected by the end of its name", () => {
    const { project, files } = openProject((made) => made.write("ws/own.code-workspace", "{}"));
    expect(files.getPaths().readOnly).toContain(project.path("ws/own.code-workspace"));
    project.write("ws/Other.Code-Workspace");
    expect(files.check().join()).toContain("Other.Code-Workspace");
    expect(project.has("ws/Other.Code-Workspace")).toBe(false);
    project.write("ws/later.code-workspace", "{}");
    rmSync(project.path("ws/own.code-workspace"));
    files.refresh();
    expect(files.getPaths().readOnly).toContain(project.path("ws/later.code-workspace"));
    expect(files.getPaths().readOnly).not.toContain(project.path("ws/own.code-workspace"));
  });

  test("a link that shows files of others as protected names is taken away, and these files stay", () => {
    const { project, files } = openProject((made) => made.write("agent/settings.json", "{}"));
    project.link("ws/.vscode", "../agent");
    expect(files.check().join()).toMatch(/\.vscode/);
    expect(project.has("ws/.vscode")).toBe(false);
    expect(project.read("agent/settings.json")).toBe("{}");
  });

  test("a directory behind the user's own link may not be replaced by a link to files of others", () => {
    const { project, files } = openProject((made) => {
      made.write("agent/settings.json", "{}");
      mkdirSync(made.path("ws/conf"));
      made.link("ws/.vscode", "conf");
    });
    renameSync(project.path("ws/conf"), project.path("ws/other"));
    project.link("ws/conf", "../agent");
    files.check();
    expect(project.read("agent/settings.json")).toBe("{}");
  });

  test("a link to nothing is taken away before something is put where it leads", () => {
    const { project, files } = openProject();
    project.link("ws/.vscode", "conf");
    files.check();
    files.refresh();
    project.write("ws/conf/tasks.json");
    files.check();
    expect(project.has("ws/.vscode")).toBe(false);
  });

  test("what appears behind the user's own link is set aside", async () => {
    const { project, files } = openProject((made) => {
      mkdirSync(made.path("ws/conf"));
      made.link("ws/.vscode", "conf");
    });
    // Until the link is old enough to be remembered as unchanged.
    await expect.poll(() => Date.now() - lstatSync(project.path("ws/.vscode")).ctimeMs).toBeGreaterThan(60);
    files.refresh();
    project.write("ws/conf/tasks.json");
    files.check();
    expect(project.has("ws/conf/tasks.json")).toBe(false);
  });

  test("the user's own link comes back when a directory took its place", () => {
    const { project, files } = openProject((made) => {
      made.write("ws/conf/tasks.json", "fine");
      made.link("ws/.vscode", "conf");
    });
    unlinkSync(project.path("ws/.vscode"));
    project.write("ws/.vscode/tasks.json");
    files.check();
    expect(readlinkSync(project.path("ws/.vscode"))).toBe("conf");
    expect(project.read("ws/.vscode/tasks.json")).toBe("fine");
  });

  test("a directory that holds other files may come and go", () => {
    const { project, files } = openProject();
    project.write("ws/.vscode/extensions.json", "{}");
    expect(files.check()).toEqual([]);
    files.refresh();
    rmSync(project.path("ws/.vscode"), { recursive: true });
    expect(files.check()).toEqual([]);
  });
});

describe.runIf(process.platform === "linux")("git directories", () => {
  test("a new repository does not cover for other names that appeared with it", () => {
    const { project, files } = openProject();
    project.git("init", "-q");
    project.write("ws/.envrc");
    project.write("ws/.vscode/tasks.json");
    expect(files.check().join()).toMatch(/\.envrc[^]*tasks\.json/);
    expect([".envrc", ".vscode/tasks.json"].filter((name) => project.has(`ws/${name}`))).toEqual([]);
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("hooks of a new repository are taken away for as long as the command runs that made it", () => {
    const { project, files } = openProject();
    project.git("init", "-q");
    expect(files.check()).toEqual([]);
    project.write("ws/.git/hooks/pre-commit");
    project.git("config", "core.fsmonitor", "evil");
    expect(files.check().join()).toMatch(/pre-commit[^]*core\.fsmonitor/);
    expect(project.has("ws/.git/hooks/pre-commit")).toBe(false);
    files.refresh();
    expect(files.getPaths().readOnly).toContain(project.path("ws/.git/hooks"));
  });

  test("a new repository that becomes a link does not let files of others be changed", () => {
    const config = "[core]\n\teditor = vim\n";
    const { project, files } = openProject((made) => made.write("home/.config/git/config", config));
    project.git("init", "-q");
    files.check();
    renameSync(project.path("ws/.git"), project.path("ws/x"));
    project.link("ws/.git", "../home/.config/git");
    files.check();
    expect(project.read("home/.config/git/config")).toBe(config);
    expect(project.has("ws/.git")).toBe(false);
  });

  test("a workspace does not become a repository without a .git", () => {
    const { project, files } = openProject();
    for (const name of ["objects", "refs"]) mkdirSync(project.path(`ws/${name}`));
    project.write("ws/config", "[core]\n\tfsmonitor = evil\n");
    project.write("ws/HEAD", "ref: refs/heads/main\n");
    expect(files.check().join()).toMatch(/HEAD/);
    expect(() => project.git("status")).toThrow(/not a git repository/);
  });

  const hooks = { ".githooks": "in the root", "tools/git/hooks": "below" };
  for (const [path, where] of Object.entries(hooks)) {
    test(`a directory of hooks that is configured and missing is set aside when it appears: ${where}`, () => {
      const { project, files } = openProject((made) => {
        made.git("init", "-q");
        made.git("config", "core.hooksPath", path);
      });
      project.write(`ws/${path}/pre-commit`);
      files.check();
      expect(project.has(`ws/${path}`)).toBe(false);
    });
  }

  test("a directory of hooks that the user configured for all repositories counts", () => {
    const { project, files } = openProject((made) => {
      made.git("init", "-q");
      made.write("home/.gitconfig", "[core]\n\thooksPath = .githooks\n");
    });
    project.write("ws/.githooks/pre-commit");
    files.check();
    expect(project.has("ws/.githooks")).toBe(false);
  });

  test("a directory of hooks is protected in a worktree, too", () => {
    const { files, project } = openProject((made) => {
      made.write("main/.githooks/pre-commit", "#!/bin/sh\n");
      const main = ["-C", made.path("main"), "-c", "user.name=a", "-c", "user.email=a@b"];
      made.git(...main, "init", "-q");
      made.git(...main, "add", ".");
      made.git(...main, "commit", "-qm", "one");
      made.git(...main, "config", "core.hooksPath", ".githooks");
      made.git(...main, "worktree", "add", "-q", made.path("ws"));
    });
    expect(files.getPaths().readOnly).toContain(project.path("ws/.githooks"));
  });

  test("a file that the configuration of git includes is protected", () => {
    const { files, project } = openProject((made) => {
      made.git("init", "-q");
      made.write("ws/tools/gitconfig", "");
      made.git("config", "include.path", "../tools/gitconfig");
    });
    expect(files.getPaths().readOnly).toContain(project.path("ws/tools/gitconfig"));
  });

  test("a repository far below the workspace is protected", () => {
    const { project, files } = openProject((made) => {
      made.git("init", "-q", "apps/web/packages/ui/theme");
      made.write("ws/apps/web/packages/ui/theme/.git/hooks/post-commit", "#!/bin/sh\n");
    });
    const directory = project.path("ws/apps/web/packages/ui/theme/.git");
    expect(files.getPaths().pinned).toContain(directory);
    expect(files.getPaths().readOnly).toContain(join(directory, "hooks"));
    const config = join(directory, "config");
    const before = readFileSync(config, "utf8");
    writeFileSync(config, `${before}[core]\n\tfsmonitor = evil\n`);
    expect(files.check().join()).toMatch(/apps\/web\/packages\/ui\/theme\/\.git\/config/);
    expect(readFileSync(config, "utf8")).not.toMatch(/evil/);
  });

  test("a project with more directories than are read has its nearest repositories protected", () => {
    const { project, files } = openProject((made) => {
      for (let index = 0; index < 40; index++) {
        mkdirSync(made.path(`ws/a/${index}`), { recursive: true });
        for (let inner = 0; inner < 40; inner++) mkdirSync(made.path(`ws/a/${index}/${inner}`));
      }
      made.git("init", "-q", "z/y");
    });
    expect(files.getPaths().pinned).toContain(project.path("ws/z/y/.git"));
  });
});

describe.runIf(process.platform === "linux")("git's own files", () => {
  const init = (each: Project) => void each.git("init", "-q");

  test("what the user's own link leads to is read-only", () => {
    const { project, files } = openProject((each) => {
      each.write("ws/target", "fine");
      each.link("ws/.envrc", "target");
    });
    expect(files.getPaths().readOnly).toEqual([project.path("ws/target")]);
  });

  test("so are the links of worktrees below, and the git directories of others", () => {
    const { project, files } = openProject((each) => {
      init(each);
      each.git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "x");
      each.git("worktree", "add", "-q", "tree");
      each.git("worktree", "add", "-q", each.path("elsewhere"));
    });
    const { readOnly } = files.getPaths();
    expect(readOnly).toContain(project.path("ws/tree/.git"));
    expect(readOnly).toContain(project.path("ws/.git/worktrees/elsewhere"));
  });

  test("so are the hooks of submodules", () => {
    const { project, files } = openProject((each) => {
      init(each);
      each.git("init", "-q", "--bare", ".git/modules/a/b");
    });
    expect(files.getPaths().readOnly).toContain(project.path("ws/.git/modules/a/b/hooks"));
  });

  test.each(["commondir", "config.worktree", "remotes/origin", "branches/origin"])("%s may not appear", (name) => {
    const { project, files } = openProject(init);
    project.write(`ws/.git/${name}`, "[core]\n\tpager = evil\n");
    expect(files.check().join()).toContain(name);
    expect(project.has(`ws/.git/${name}`)).toBe(false);
  });

  test.each(["hooks", "commondir", "config.worktree"])("a new repository has no %s that a command made", (name) => {
    const { project, files } = openProject();
    init(project);
    rmSync(project.path(`ws/.git/${name}`), { recursive: true, force: true });
    project.write(`ws/.git/${name}`);
    expect(files.check().join()).toContain(name);
    expect(project.has(`ws/.git/${name}`)).toBe(false);
  });

  test("a workspace does not become a git directory that names another one", () => {
    const { project, files } = openProject();
    project.write("ws/HEAD", "ref: refs/heads/main\n");
    project.write("ws/commondir", "r\n");
    expect(files.check().join()).toContain("HEAD");
    expect(project.has("ws/HEAD")).toBe(false);
  });

  test("a home directory in the workspace has the names of both", () => {
    const { project } = openProject();
    const workspace = project.path("ws");
    const setAside = createSetAside(project.path("agent/home"), () => "1");
    const getWritable = () => [workspace];
    mkdirSync(project.path("ws/me"));
    const home = project.path("ws/me");
    const files = new ProtectedFiles({ workspace, shownFrom: workspace, home, setAside, getWritable });
    for (const name of [".config/fish/config.fish", ".bashrc"]) project.write(`ws/me/${name}`);
    const notices = files.check().join();
    for (const name of ["me/.config/fish", "me/.bashrc"]) expect(notices).toContain(`protects ${name}:`);
  });

  test("compiled code of our own is protected wherever caches are", () => {
    const { project } = openProject();
    const [workspace, home] = [project.path("ws"), project.path("home")];
    const setAside = createSetAside(project.path("agent/aside"), () => "1");
    const options = { workspace, shownFrom: workspace, home, setAside, getWritable: () => [workspace] };
    const files = new ProtectedFiles({ ...options, cacheHome: project.path("ws/.cache") });
    project.write("ws/.cache/tau/code/x");
    expect(files.check().join()).toContain("protects .cache/tau:");
    expect(project.has("ws/.cache/tau")).toBe(false);
  });

  test.each([
    ["~/.config", ".config", ["fish/config.fish", "starship.toml"]],
    ["~/.cache, which has compiled code of our own", ".cache", ["tau/code/x"]],
    ["the home directory", "", [".cache/tau/code/x", ".bashrc.d/x", ".nvm/nvm.sh", ".hgrc"]],
  ])("%s as a directory that commands may change has the names of the home directory", (_, name, planted) => {
    const { project } = openProject((made) => made.write("home/.config/nvim/init.lua"));
    const home = project.path("home");
    const workspace = join(home, name);
    mkdirSync(workspace, { recursive: true });
    const setAside = createSetAside(project.path("agent/aside"), () => "1");
    const getWritable = () => [workspace];
    const files = new ProtectedFiles({ workspace, shownFrom: workspace, home, setAside, getWritable });
    const existing = name === ".cache" ? [] : [join(home, ".config/nvim")];
    expect(files.getPaths().readOnly).toEqual(existing);
    for (const file of planted) project.write(join("home", name, file));
    files.check();
    expect(planted.filter((file) => project.has(join("home", name, file)))).toEqual([]);
  });
});

describe.runIf(process.platform === "linux")("a repository that a command makes below the workspace", () => {
  const evil = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = evil\n";

  test("has nothing that git would run when the command is over, and is protected then", () => {
    const { project, files } = openProject((each) => each.git("init", "-q"));
    project.git("init", "-q", "a/sub");
    project.write("ws/a/sub/.git/hooks/post-checkout");
    project.write("ws/a/sub/.git/config", evil);
    expect(files.check({ isEnd: false })).toEqual([]);
    const notices = files.check().join("\n");
    expect(notices).toMatch(/post-checkout.*undid changes of a\/sub\/\.git\/config: core\.fsmonitor/s);
    expect(project.has("ws/a/sub/.git/hooks/post-checkout")).toBe(false);
    expect(project.read("ws/a/sub/.git/config")).not.toContain("evil");
    // The command may still run.
    project.write("ws/a/sub/.git/hooks/post-checkout");
    expect(files.check().join()).toContain("post-checkout");
    files.refresh();
    expect(files.getPaths().readOnly).toContain(project.path("ws/a/sub/.git/hooks"));
    project.write("ws/a/sub/.git/config", evil);
    expect(files.check().join()).toContain("core.fsmonitor");
  });

  test("may be one without a working tree", () => {
    const { project, files } = openProject();
    project.git("init", "-q", "--bare", "docs");
    project.write("ws/docs/config", `${evil}\tworktree = .\n`);
    expect(files.check().join()).toContain("core.fsmonitor, core.worktree");
    files.refresh();
    project.write("ws/docs/config", evil);
    expect(files.check().join()).toContain("core.fsmonitor");
  });

  test("may be a worktree or a clone of the project, which stays as it is", () => {
    const { project, files } = openProject((each) => {
      each.git("init", "-q");
      each.git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "x");
    });
    project.git("worktree", "add", "-q", "tree");
    project.git("clone", "-q", `file://${project.path("ws")}`, "copy");
    expect(files.check().filter((notice) => !/copy.*remote\.origin\.url/.test(notice))).toEqual([]);
    expect(project.git("-C", "tree", "status", "--porcelain")).toBe("");
  });

  test("is set aside if it is a link, or names a git directory that does not know of it", () => {
    const { project, files } = openProject((each) => each.git("init", "-q"));
    project.git("init", "-q", "--bare", "r");
    project.write("ws/a/.git", "gitdir: ../r\n");
    mkdirSync(project.path("ws/b"));
    project.link("ws/b/.git", "../r");
    expect(files.check().join()).toMatch(/protects a\/\.git.*protects b\/\.git/);
    expect([project.has("ws/a/.git"), project.has("ws/b/.git")]).toEqual([false, false]);
  });

  test("is protected with the next command if a person has made it", () => {
    const { project, files } = openProject();
    project.git("init", "-q", "sub");
    project.write("ws/sub/.git/hooks/post-checkout", "fine");
    files.refresh();
    expect(files.check()).toEqual([]);
    expect(files.getPaths().readOnly).toContain(project.path("ws/sub/.git/hooks"));
  });
});
