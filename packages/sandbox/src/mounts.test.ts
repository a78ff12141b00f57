import { describe, expect, test } from "vitest";
import { getCapabilityMask, type Mount, planMounts, type ProjectFacts, toBwrapArguments } from "./mounts.ts";
import { defaultSandboxSettings } from "./settings.ts";

const facts: ProjectFacts = {
  watched: [],
  workspace: "/src/app",
  gitDirectories: [],
  protected: ["/src/app/.git/hooks", "/src/app/.vscode/tasks.json"],
  pinned: ["/src/app/.git"],
  hidden: [
    { path: "/home/me/.tau", isDirectory: true },
    { path: "/home/me/.netrc", isDirectory: false },
  ],
  temporary: "/tmp/tau-sandbox-1/tmp",
  cache: "/home/me/.tau/cache/1",
  needed: ["/home/me/.tau/skills"],
  runDirectories: ["/run"],
  temporaryDirectories: ["/tmp", "/var/tmp"],
  machineWide: ["/proc/sys"],
};

const lines = (more: Partial<ProjectFacts> = {}, allowedPaths: string[] = []) =>
  planMounts({ ...defaultSandboxSettings, allowedPaths }, { ...facts, ...more }).map(
    ({ kind, path, ...mount }) => `${kind} ${path}${"from" in mount ? ` from ${mount.from}` : ""}`,
  );

describe("the plan", () => {
  test("has the workspace, its protected names with every directory above them, and what is hidden", () => {
    expect(lines()).toEqual([
      "empty /run",
      "writable /tmp from /tmp/tau-sandbox-1/tmp",
      "writable /var/tmp from /tmp/tau-sandbox-1/tmp",
      "writable /src/app",
      "writable /src/app/.git",
      "writable /src/app/.vscode",
      "hidden-directory /home/me/.tau",
      "hidden-file /home/me/.netrc",
      "read-only /src/app/.git/hooks",
      "read-only /src/app/.vscode/tasks.json",
      "read-only /home/me/.tau/skills",
      "writable /home/me/.tau/cache/1",
    ]);
  });

  test("can let nothing be changed but temporary files", () => {
    const mounts = planMounts({ ...defaultSandboxSettings, allowedPaths: ["/data"] }, facts, { isReadOnly: true });
    const writable = mounts.filter(({ kind }) => kind === "writable");
    expect(writable.map(({ path }) => path)).toEqual(["/tmp", "/var/tmp"]);
    expect(mounts).toEqual(expect.arrayContaining(["/src/app", "/data"].map((path) => ({ kind: "read-only", path }))));
  });

  test("keeps the place of a git directory in which nothing is protected", () => {
    const plan = lines({ protected: [], pinned: ["/src/app/a/.git"] });
    expect(plan).toEqual(expect.arrayContaining(["writable /src/app/a", "writable /src/app/a/.git"]));
  });

  test("mounts a directory before everything below it", () => {
    const paths = lines().map((line) => line.split(" ")[1]!);
    for (const [index, path] of paths.entries()) {
      expect(paths.slice(0, index).filter((other) => other.startsWith(`${path}/`))).toEqual([]);
    }
  });

  test("opens what a person allows, but no credentials", () => {
    const allowed = lines({}, ["/data", "/home/me/.netrc", "/home/me/.tau/sessions"]);
    expect(allowed).toContain("writable /data");
    expect(allowed).toContain("hidden-file /home/me/.netrc");
    expect(allowed.filter((line) => line.includes("sessions"))).toEqual([]);
  });

  test("hides a credential that is also protected, needed or in the workspace", () => {
    const hidden = [
      { path: "/src/app/.npmrc", isDirectory: false },
      { path: "/src/app/.aws", isDirectory: true },
    ];
    const paths = hidden.map(({ path }) => path);
    for (const more of [{ protected: paths }, { needed: paths }, { pinned: paths }, { gitDirectories: paths }]) {
      const plan = lines({ ...more, hidden }).filter((line) => paths.includes(line.split(" ")[1]!));
      expect(plan).toEqual(["hidden-file /src/app/.npmrc", "hidden-directory /src/app/.aws"]);
    }
  });

  test("leaves what commands may change and only have to read as it is, unless it is hidden", () => {
    const needed = ["/src/app/skills", "/data/skills", "/home/me/.tau/git/a", "/tmp/plugin"];
    const plan = lines({ needed }, ["/data"]);
    expect(plan.filter((line) => line.startsWith("read-only"))).toEqual([
      "read-only /tmp/plugin",
      "read-only /src/app/.git/hooks",
      "read-only /src/app/.vscode/tasks.json",
      "read-only /home/me/.tau/git/a",
    ]);
  });

  test("keeps a protected name read-only that a person allows", () => {
    expect(lines({}, ["/src/app/.git/hooks"])).toContain("read-only /src/app/.git/hooks");
  });

  test("lets commands change a git directory outside the workspace, but not its hooks", () => {
    const outside = lines({
      gitDirectories: ["/main/.git"],
      pinned: ["/main/.git"],
      protected: ["/main/.git/hooks"],
    });
    expect(outside).toContain("writable /main/.git");
    expect(outside).toContain("read-only /main/.git/hooks");
    expect(outside.filter((line) => line.endsWith(" /main"))).toEqual([]);
  });
});

test("directories in which credentials may appear are fixed, unless commands may change them or do not see them", () => {
  const watched = ["/home/me", "/home/me/.config", "/home/me/.tau/agents", `${facts.workspace}/.aws`, "/run/x"];
  const mounts = planMounts(
    { ...defaultSandboxSettings, allowedPaths: ["/home/me/open"] },
    {
      ...facts,
      watched: [...watched, "/home/me/open/.aws"],
    },
  );
  const fixed = mounts.flatMap(({ kind, path }) => (kind === "fixed" ? [path] : []));
  expect(fixed).toEqual(["/home/me", "/home/me/.config"]);
});

describe("the arguments of bubblewrap", () => {
  const options = {
    mounts: planMounts(defaultSandboxSettings, facts),
    machineWide: facts.machineWide,
    network: "none" as const,
    isRoot: true,
    forHelper: false,
    mayTrace: false,
    memoryFilesBytes: 4096,
    filterDescriptor: 4,
  };

  test("give up all rights but those over files, and with a helper those that it needs", () => {
    const getAdded = (more: object) => {
      const args = toBwrapArguments({ ...options, ...more });
      return args.filter((_unused, index) => args[index - 1] === "--cap-add");
    };
    expect(getAdded({})).not.toContain("CAP_SYS_ADMIN");
    expect(getAdded({})).toContain("CAP_DAC_OVERRIDE");
    expect(getAdded({ isRoot: false })).toEqual([]);
    expect(getAdded({ isRoot: false, forHelper: true })).toEqual(["CAP_SYS_ADMIN", "CAP_SETPCAP"]);
    expect(getAdded({ isRoot: false, forHelper: true, mayTrace: true })).toContain("CAP_SYS_PTRACE");
    expect(getAdded({ isRoot: false, mayTrace: true })).toEqual([]);
    expect(getCapabilityMask(false)).toBe("0");
    expect(Number.parseInt(getCapabilityMask(true), 16) & (1 << 21)).toBe(0);
  });

  test("are these, in this order, for commands of root and of an ordinary user", () => {
    const start = (more: object) => {
      const text = toBwrapArguments({ ...options, mounts: [], machineWide: [], ...more }).join(" ");
      return text.replaceAll(/ --cap-add CAP_\w+/g, "");
    };
    const namespaces = "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try";
    const memory = "--perms 1777 --size 4096 --tmpfs /dev/shm --remount-ro /dev";
    const rest = `--seccomp 4 --ro-bind / / --dev /dev --proc /proc ${memory}`;
    const own = `${namespaces} --die-with-parent --as-pid-1 --cap-drop ALL`;
    expect(start({})).toBe(`${own} --new-session --unshare-net ${rest}`);
    expect(start({ isRoot: false })).toBe(`${own} --new-session --unshare-net --unshare-user ${rest}`);
    expect(start({ forHelper: true })).toBe(`${own} --unshare-net ${rest}`);
  });

  test("show each kind of mount as it is", () => {
    const getArguments = (mount: Mount) => {
      const before = toBwrapArguments({ ...options, mounts: [] }).length;
      return toBwrapArguments({ ...options, mounts: [mount] })
        .slice(before)
        .join(" ");
    };
    expect(getArguments({ kind: "writable", path: "/w" })).toBe("--bind /w /w");
    expect(getArguments({ kind: "writable", path: "/tmp", from: "/x" })).toBe("--bind /x /tmp");
    expect(getArguments({ kind: "read-only", path: "/w/a" })).toBe("--ro-bind /w/a /w/a");
    expect(getArguments({ kind: "hidden-file", path: "/s" })).toBe("--ro-bind /dev/null /s");
    expect(getArguments({ kind: "hidden-directory", path: "/s" })).toBe("--perms 0555 --tmpfs /s --remount-ro /s");
    expect(getArguments({ kind: "fixed", path: "/home/me" })).toBe("");
    expect(getArguments({ kind: "empty", path: "/run" })).toBe("--size 4096 --tmpfs /run");
  });

  test("make a network of its own unless all of it is allowed or it is shared", () => {
    expect(toBwrapArguments(options)).toContain("--unshare-net");
    expect(toBwrapArguments({ ...options, network: { allow: ["example.com"] } })).toContain("--unshare-net");
    expect(toBwrapArguments({ ...options, network: "all" })).not.toContain("--unshare-net");
    expect(toBwrapArguments({ ...options, keepsNetwork: true })).not.toContain("--unshare-net");
  });

  test("cover what belongs to the machine, after /proc is mounted", () => {
    const text = toBwrapArguments(options).join(" ");
    expect(text).toMatch(/--proc \/proc .*--ro-bind \/proc\/sys \/proc\/sys/);
    expect(toBwrapArguments({ ...options, forHelper: true }).join(" ")).not.toContain("/proc/sys");
  });

  test("close hidden directories last, when everything below them has its place", () => {
    const args = toBwrapArguments(options);
    expect(args.slice(-2)).toEqual(["--remount-ro", "/home/me/.tau"]);
  });
});
