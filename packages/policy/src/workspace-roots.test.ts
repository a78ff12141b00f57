import { expect, test } from "vitest";
import { pathStanding, resolvePathRules } from "./paths.ts";
import { WorkspaceRoots } from "./workspace-roots.ts";

const named = [{ variable: "KUBECONFIG", value: "/data/kube", path: "/data/kube", paths: undefined }];
const rules = resolvePathRules({ roots: ["/work", "/tmp", "/more"], home: "/home/me", agentDir: "/srv/tau", named });
const open = () => new WorkspaceRoots(rules);

test("what is added is open to the next call, by the rules that everybody holds already", () => {
  const roots = open();
  const standing = () =>
    ["/data/a", "/database/a", "/data/kube", "/data/.git/hooks/x", "/more/a"].map((path) =>
      pathStanding(path, "write", resolvePathRules(roots.rules)),
    );
  expect(standing()).toEqual(["asks", "asks", "denied", "asks", "allowed"]);
  roots.add("/data");
  expect(standing()).toEqual(["allowed", "asks", "denied", "asks", "allowed"]);
  expect(roots.added).toEqual(["/more", "/data"]);
  // Another session has its own.
  expect(open().added).toEqual(["/more"]);
});

test.each([
  ["/", "everything on this machine"],
  ["/home", "contains your home directory"],
  ["/home/me", "is your home directory"],
  ["/srv", "settings, keys and sessions"],
  ["/srv/tau/exports", "settings, keys and sessions"],
  ["/home/me/.ssh", "credentials are kept there"],
  ["/home/me/.aws", "keep logins in it"],
  ["/data/kube", "credentials are kept there"],
  ["/sys/fs", "no files"],
  ["/dev", "no files"],
])("%s never belongs to a workspace: %s", (path, reason) => {
  expect(open().decide(path)).toEqual({ kind: "refused", reason: expect.stringContaining(reason) });
});

test.each([
  ["/data", { kind: "added" }],
  ["/home/me/project", { kind: "added" }],
  ["/dev/shm/data", { kind: "added" }],
  ["/srv/tau/worktrees/project/feature", { kind: "added" }],
  ["/work/src", { kind: "known", root: "/work" }],
  ["/more", { kind: "known", root: "/more" }],
  // Commands have temporary files of their own, so one that is added is open to them only as such.
  ["/tmp/data", { kind: "added" }],
])("%s: %o", (path, decision) => {
  expect(open().decide(path)).toEqual(decision);
});
