import { describe, expect, test } from "vitest";
import { explainFailure, findObstacle } from "./probe.ts";

describe("a sandbox that cannot work", () => {
  test.each([
    ["darwin", "arm64", "/src/app", /Linux only/],
    ["linux", "ppc64", "/src/app", /ppc64/],
    ["linux", "x64", "/", /root of the file system/],
  ])("on %s %s in %s says why", (platform, arch, workspace, reason) => {
    expect(findObstacle(workspace, platform, arch)?.reason).toMatch(reason);
  });

  test("is none on Linux in a project", () => {
    expect(findObstacle("/src/app", "linux", "x64")).toBeUndefined();
    expect(findObstacle("/src/app", "linux", "arm64")).toBeUndefined();
  });

  test.each([
    ["bwrap: No permissions to create new namespace, likely because the kernel does not allow it", /user namespaces/],
    ["bwrap: setting up uid map: Permission denied", /user namespaces/],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", /network namespaces/],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /mounts/],
    ["", /bubblewrap says/],
  ])("says what helps against %j", (complaint, fix) => {
    expect(explainFailure(complaint, false).fix).toMatch(fix);
  });

  test("tells root in a container about the container, and nothing about user namespaces", () => {
    const { fix } = explainFailure("bwrap: Creating new namespace failed: Operation not permitted", true);
    expect(fix).toMatch(/--cap-add SYS_ADMIN/);
    expect(fix).not.toMatch(/user namespaces/);
  });
});
